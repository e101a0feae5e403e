#!/usr/bin/env bash
# InfluxDB 1.x (Debian's influxdb) on PORT: HTTP API with Basic authentication; users, databases, grants. `install DIR` only installs.
# Nothing under /etc or /var; PORT+1 is its own service for backups. Where Debian's package is installed it is used;
# elsewhere it is unpacked into the folder. Environment: AUTH=false (no authentication), MAX_ROWS=20.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); R=$D/root; V=$D/data
stop() { pid_stop "$V/server.pid"; }
show() { jq -n --arg b "http://127.0.0.1:$(cat "$V/port")" --arg v "$(cat "$V/version")" '{system:"influxdb",baseUrl:$b,version:$v,
  auth:{username:"admin",password:"admin-secret"},
  others:[{username:"user001",password:"pw-001",note:"no administrator: 403"}],
  seeded:{users:"user001..user030 (password pw-NNN; even ones READ on sales, every fifth WRITE on ops, every tenth ALL on finance)",databases:["sales","finance","ops"]}}'; }
if [ -x /usr/bin/influxd ]; then R=; fi
fetch() { [ -z "$R" ] || apt_extract "$R" influxdb; }
case $cmd in stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; install) fetch; exit 0;; start) P=${3:?port};; *) usage;; esac
if pid_alive "$V/server.pid"; then show; exit 0; fi
stop; port_free "$P"; port_free $((P+1)); fetch
mkdir -p "$V"; echo "$P" > "$V/port"; B=http://127.0.0.1:$P
"$R/usr/bin/influxd" version | sed 's/^InfluxDB v\([0-9.]*\).*/\1/' > "$V/version"
cat > "$V/influxdb.conf" <<C
reporting-disabled = true
bind-address = "127.0.0.1:$((P+1))"
[meta]
dir = "$V/meta"
[data]
dir = "$V/db"
wal-dir = "$V/wal"
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:$P"
auth-enabled = ${AUTH:-true}
max-row-limit = ${MAX_ROWS:-0}
C
setsid "$R/usr/bin/influxd" run -config "$V/influxdb.conf" > "$V/server.log" 2>&1 < /dev/null & pid_save "$V/server.pid" $!
wait_http "$B/ping" "$V/server.pid" 60 "$V/server.log"
if [ ! -e "$V/seeded" ]; then
  send() { curl -sf -u admin:admin-secret "$B/query" --data-urlencode "q=$1" | jq -e 'all(.results[]; .error == null)' > /dev/null || { stop; die "seeding failed"; }; }
  send "CREATE USER admin WITH PASSWORD 'admin-secret' WITH ALL PRIVILEGES"
  send "CREATE DATABASE sales; CREATE DATABASE finance; CREATE DATABASE ops"
  send "$(for k in $(seq 30); do
    n=$(printf 'user%03d' "$k"); echo "CREATE USER $n WITH PASSWORD 'pw-${n#user}';"
    [ $((k % 2)) != 0 ] || echo "GRANT READ ON sales TO $n;"
    [ $((k % 5)) != 0 ] || echo "GRANT WRITE ON ops TO $n;"
    [ $((k % 10)) != 0 ] || echo "GRANT ALL ON finance TO $n;"
  done)"
  curl -sf -u admin:admin-secret "$B/write?db=sales" --data-binary 'orders,owner=user001 total=1' || { stop; die "seeding failed"; }
  : > "$V/seeded"
fi
show
