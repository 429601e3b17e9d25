# load.sh N: N allocations by the shell's kit, and how many.
. "$KIT/worker.sh"
made=0
while [ "$made" -lt "$1" ]; do
  take
  case $? in
    0) made=$((made + 1)) ;;
    1) sleep 1 ;;
    *) exit 1 ;;
  esac
done
echo "$made"
