#!/bin/sh
# A worker of a proxyward pool, with redis-cli (7.0 or later, for -e) and curl (7.55 or later).
#
#   worker.sh URL [COUNT]   fetches a page through a pool; `. worker.sh` gives the functions below
#
# Settings: REDIS_URL (without a password: that is REDISCLI_AUTH, which no list of processes shows), CHECK,
# PROXYWARD_LUA (the directory of the scripts; else lua/ where you are), WAIT and JOB_LIMIT in whole seconds, JOB_CAP.
# For a Cluster: REDIS_CLI="redis-cli -c". With JOB_LIMIT live jobs are counted, for checks with `jobs: true`.

: "${REDIS_URL:=redis://127.0.0.1:6379/0}" "${CHECK:=default}" "${PREFIX:=proxyward}" "${PROXYWARD_LUA:=lua}"
: "${REDIS_CLI:=redis-cli}" "${WAIT:=30}" "${JOB_LIMIT:=}" "${JOB_CAP:=0}" "${WORKER:=$(uname -n)-$$}"
key="$PREFIX:{$CHECK}:"

# script NAME NUMBER KEY... ARGV...: by its digest, and with its text where the server does not know it yet.
script() {
  text=$(cat "$PROXYWARD_LUA/$1.lua") || { echo "copy store/lua there, or name it by PROXYWARD_LUA" >&2 && return 1; }
  sha=$(printf %s "$text" | sha1sum | cut -d ' ' -f 1)
  shift
  if reply=$($REDIS_CLI --no-auth-warning -e -u "$REDIS_URL" --raw EVALSHA "$sha" "$@" 2>&1); then
    printf '%s\n' "$reply"
    return
  fi
  case $reply in
    *NOSCRIPT*) $REDIS_CLI --no-auth-warning -e -u "$REDIS_URL" --raw EVAL "$text" "$@" ;;
    *) printf '%s\n' "$reply" >&2 && return 1 ;;
  esac
}

# take: sets endpoint, url (a secret) and, for a job, token; status 1 when no proxy is free: then make no request.
take() {
  token=
  if [ "$JOB_LIMIT" ]; then
    got=$(script acquire 5 "${key}eligible" "${key}inflight" "${key}jobs" "${key}clock" "${key}urls" "${JOB_LIMIT}000" "$JOB_CAP") || return 2
    token=$(printf %s "$got" | sed -n 2p)
  else
    got=$(script allocate_url 2 "${key}eligible" "${key}urls") || return 2
  fi
  endpoint=$(printf %s "$got" | sed -n 1p) url=$(printf %s "$got" | sed -n '$p')
  [ "$endpoint" ]
}

# lease: take; while none is free it asks again, ever more rarely, for WAIT seconds.
lease() {
  waited=0 pause=1
  while :; do
    take && return
    [ $? = 1 ] || return 2
    [ "$waited" -lt "$WAIT" ] || return 1
    [ $((waited + pause)) -le "$WAIT" ] || pause=$((WAIT - waited))
    sleep "$pause"
    waited=$((waited + pause)) pause=$((pause < 4 ? pause * 2 : 4))
  done
}

# finish [STAGE REASON]: ends the use, with what failed in the words of docs/verdicts.md.
finish() {
  if [ "$token" ]; then
    script release 4 "${key}inflight" "${key}jobs" "${key}engaged" "${key}reports" "$token" "${1:+failed}" "$1" "$2" "$WORKER"
  elif [ "$1" ]; then
    script report 1 "${key}reports" "$endpoint" failed "$1" "$2" "$WORKER" "$(date +%s)000"
  fi > /dev/null
  return 0 # a lost report is not worth a retry, and a job ends by its limit
}

# fetch URL FILE [CURL OPTION...]: one request through a proxy of the pool; prints the status and the endpoint. The
# proxy's URL goes to curl by its standard input. Status 3: the pool is empty, 4: Redis gave none; else curl's own.
fetch() {
  lease || return $(($? + 2))
  page=$1 file=$2
  shift 2
  said=$(printf 'proxy = "%s"\n' "$url" | curl -q --config - --noproxy '' --silent --connect-timeout 5 --max-time 20 \
    --output "$file" --write-out '%{http_code} %{time_connect} %{http_connect}' "$@" "$page")
  failed=$?
  case $failed,$said in
    *\ 407 | *,407\ *) finish proxy_auth auth_rejected ;;
    0,*) finish ;;
    5,*) finish resolve name_not_found ;;
    7,*) finish connect refused ;;
    28,*\ 0?000000\ *) finish connect timeout ;;
    28,*) finish headers timeout ;;
    35,* | 60,*) finish target_tls tls_alert ;;
    56,* | 97,*) finish tunnel upstream_error ;;
    18,* | 52,*) finish headers eof ;;
    *) finish ;; # not the proxy's fault
  esac
  [ "$failed" = 0 ] && said=${said%% *} || said="curl: exit status $failed"
  printf '%s through %s\n' "$said" "$endpoint"
  return "$failed"
}

if [ "${0##*/}" = worker.sh ]; then
  [ $# -ge 1 ] || { echo "usage: worker.sh URL [COUNT]" >&2 && exit 2; }
  bad=0 n=${2:-1}
  while [ "$n" -gt 0 ]; do
    fetch "$1" /dev/null
    case $? in
      0) ;;
      3) echo "no proxy of ${key}eligible was free for $WAIT s" >&2 && exit 1 ;;
      4) exit 1 ;; # said already
      *) bad=1 ;;
    esac
    n=$((n - 1))
  done
  exit "$bad"
fi
