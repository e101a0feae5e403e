#!/usr/bin/env bash
# HAProxy in front of the ports in BACKENDS (separated by spaces), round robin. `install DIR` only installs.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); R=$D/root; V=$D/data
stop() { pid_stop "$V/server.pid"; }
show() { jq -n --arg b "http://127.0.0.1:$(cat "$V/port")" '{system:"haproxy",baseUrl:$b,auth:{}}'; }
case $cmd in stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; install) apt_extract "$R" haproxy; exit 0;; start) P=${3:?port};; *) usage;; esac
if pid_alive "$V/server.pid"; then show; exit 0; fi
port_free "$P"; apt_extract "$R" haproxy
mkdir -p "$V"; echo "$P" > "$V/port"
{
  cat <<C
defaults
  mode http
  timeout connect 5s
  timeout client 120s
  timeout server 120s
frontend keyway
  bind 127.0.0.1:$P
  default_backend hosts
backend hosts
  balance roundrobin
C
  for b in ${BACKENDS:?ports}; do echo "  server host$b 127.0.0.1:$b"; done
} > "$V/haproxy.cfg"
L=$(find "$R/usr/lib" -maxdepth 1 -type d -name '*-linux-gnu*' | paste -sd:)
LD_LIBRARY_PATH=$L setsid "$R/usr/sbin/haproxy" -db -f "$V/haproxy.cfg" > "$V/server.log" 2>&1 < /dev/null & pid_save "$V/server.pid" $!
wait_http "http://127.0.0.1:$P/healthz" "$V/server.pid" 30 "$V/server.log"
show
