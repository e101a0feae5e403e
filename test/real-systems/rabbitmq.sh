#!/usr/bin/env bash
# RabbitMQ management HTTP API: basic auth; users, tags, vhosts, permissions. `install DIR` only installs.
# Uses PORT (HTTP), PORT+1 (AMQP), PORT+2 (name service), PORT+3 (node), all on loopback.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); R=$D/root; V=$D/data
stop() { pid_stop "$V/server.pid"; pid_stop "$V/epmd.pid"; }
show() { jq -n --arg b "http://127.0.0.1:$(cat "$V/port")/api" '{system:"rabbitmq",baseUrl:$b,auth:{type:"basic",username:"admin",password:"admin-secret"},
  others:[{username:"user001",password:"pw-001",tags:["management"],note:"may log in, may not administer"}],
  seeded:{users:"user001..user250 (password pw-NNN)",vhosts:["/","sales","finance","ops"]}}'; }
case $cmd in stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; install) apt_extract "$R" rabbitmq-server; exit 0;; start) P=${3:?port};; *) usage;; esac
if pid_alive "$V/server.pid" && curl -sf -o /dev/null -u admin:admin-secret "http://127.0.0.1:$(cat "$V/port")/api/whoami"; then show; exit 0; fi
stop; for p in "$P" $((P+1)) $((P+2)) $((P+3)); do port_free "$p"; done
apt_extract "$R" rabbitmq-server; R=$(cd -P "$R" && pwd)
sed -i "s#=[^ ]*/usr/lib/erlang\$#=$R/usr/lib/erlang#; s#=/usr/lib/erlang\$#=$R/usr/lib/erlang#" "$R"/usr/lib/erlang/bin/erl "$R"/usr/lib/erlang/erts-*/bin/erl
mkdir -p "$V/log" "$V/mnesia"; echo "$P" > "$V/port"
[ -s "$V/.erlang.cookie" ] || { head -c 15 /dev/urandom | base64 | tr -dc A-Za-z > "$V/.erlang.cookie"; chmod 400 "$V/.erlang.cookie"; }
cat > "$V/rabbitmq.conf" <<C
listeners.tcp.1 = 127.0.0.1:$((P+1))
management.tcp.ip = 127.0.0.1
management.tcp.port = $P
loopback_users = none
default_user = admin
default_pass = admin-secret
C
echo '[rabbitmq_management].' > "$V/enabled_plugins"
export HOME=$V PATH="$R/usr/lib/erlang/bin:$PATH" ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT=$((P+2)) \
  RABBITMQ_NODENAME=rabbit$P@localhost RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_CONFIG_FILE="$V/rabbitmq.conf" \
  RABBITMQ_ADVANCED_CONFIG_FILE="$V/advanced.config" RABBITMQ_ENABLED_PLUGINS_FILE="$V/enabled_plugins" \
  RABBITMQ_MNESIA_BASE="$V/mnesia" RABBITMQ_LOG_BASE="$V/log" RABBITMQ_DIST_PORT=$((P+3)) \
  RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1} +sbwt none"
setsid "$R"/usr/lib/erlang/erts-*/bin/epmd -address 127.0.0.1 -port $((P+2)) > "$V/epmd.log" 2>&1 < /dev/null & pid_save "$V/epmd.pid" $!
setsid "$R"/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server > "$V/server.log" 2>&1 < /dev/null & pid_save "$V/server.pid" $!
wait_http "http://127.0.0.1:$P/api/whoami" "$V/server.pid" 90 "$V/server.log"
A=(-sf -u admin:admin-secret -H 'content-type: application/json')
for i in $(seq 50); do curl "${A[@]}" -o /dev/null "http://127.0.0.1:$P/api/whoami" && break; sleep 0.2; done
if [ ! -e "$V/seeded" ]; then
  node -e '
    const c=require("crypto"),v=["sales","finance","ops"],us=[],pm=[];
    for(let i=1;i<=250;i++){const n=String(i).padStart(3,"0"),s=c.randomBytes(4);
      us.push({name:"user"+n,password_hash:Buffer.concat([s,c.createHash("sha256").update(s).update("pw-"+n).digest()]).toString("base64"),
        hashing_algorithm:"rabbit_password_hashing_sha256",tags:i%10?["management"]:["monitoring","policymaker"]});
      pm.push({user:"user"+n,vhost:v[i%3],configure:"^$",write:".*",read:".*"})}
    console.log(JSON.stringify({users:us,vhosts:v.map(name=>({name})),permissions:pm}))' |
    curl "${A[@]}" -X POST "http://127.0.0.1:$P/api/definitions" -d @- >&2
  : > "$V/seeded"
fi
show
