# take.sh SENTINEL...: for each line of standard input, takes a proxy with the shell's kit, and prints its id.
. "$KIT/worker.sh"
master() {
  for sentinel; do
    redis-cli -u "redis://$sentinel" --raw SENTINEL GET-MASTER-ADDR-BY-NAME "$MASTER" < /dev/null 2> /dev/null | paste -sd : && return
  done
}
while read -r _; do
  until
    REDIS_URL="redis://$(master "$@")/0"
    lease < /dev/null 2> /dev/null
  do
    sleep 0.1
  done
  printf '%s\n' "$endpoint"
done
