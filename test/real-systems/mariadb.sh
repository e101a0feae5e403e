#!/usr/bin/env bash
# MariaDB (Debian's mariadb-server) on PORT, TLS offered; own data directory, nothing under /etc or /var.
# Where Debian's package is installed it is used; elsewhere it is unpacked into the folder.
# Environment: REQUIRE_TLS=1 (1045 for a connection in clear), TLS_FAULT=expired|name (see lib.sh), MAX_CONNECTIONS=50.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); R=$D/root; V=$D/data
stop() { pid_stop "$V/server.pid"; }
show() { jq -n --argjson p "$(cat "$V/port")" --arg ca "$D/tls/ca.crt" --arg v "$(cat "$V/version")" '{system:"mariadb",version:$v,host:"127.0.0.1",port:$p,ca:$ca,
  auth:{type:"password",username:"connector",password:"connector-1",note:"CREATE USER, SELECT on mysql.*, GRANT OPTION on sales and ops, ADMIN of role_reader/role_writer/role_analyst; nothing on finance and role_dba"},
  others:[{username:"reader",password:"reader-1",note:"SELECT on mysql.* only"},{username:"limited",password:"limited-1",note:"sees nothing but sales.orders"},{username:"narrow",password:"narrow-1",note:"one connection at a time: 1226"},
    {username:"admin",password:"admin-secret-1",note:"everything"}],
  seeded:{users:"user001..user040@% (password pw-NNN; user010 and user020 locked, user030 password expired), o'"'"'brien, a@b, jürgen 🚀 (kept as jürgen ?), dup@% and dup@10.0.0.%",
    roles:["role_reader","role_writer","role_analyst (has role_reader)","role_dba"],databases:{sales:["orders","customers"],sales_eu:["orders"],finance:["invoices"],ops:["tickets"]}}}'; }
if [ -x /usr/sbin/mariadbd ] && [ -x /usr/bin/mariadb-install-db ] && [ -x /usr/bin/mariadb ]; then R=; fi
fetch() { [ -z "$R" ] || apt_extract "$R" mariadb-server; }
case $cmd in install) fetch; exit 0;; stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; start) P=${3:?port};; *) usage;; esac
if pid_alive "$V/server.pid"; then show; exit 0; fi
stop; port_free "$P"
fetch; tls_make "$D/tls"
A=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")
export LD_LIBRARY_PATH="$R/usr/lib/$A:$R/lib/$A"
mkdir -p "$V"; echo "$P" > "$V/port"; I=()
if [ ! -e "$V/seeded" ]; then
  rm -rf "$V/db"
  "$R/usr/bin/mariadb-install-db" --no-defaults --basedir="$R/usr" --datadir="$V/db" --user="$(id -un)" --skip-test-db --auth-root-authentication-method=socket --innodb-log-file-size=8M > "$V/install.log" 2>&1 || { tail -5 "$V/install.log" >&2; die "no database could be made"; }
  node - > "$V/seed.sql" <<'JS'
const pad = (n) => String(n).padStart(3, '0'), q = (s) => "'" + s.replace(/'/g, "''") + "'", out = [];
const run = (...s) => out.push(...s);
run('CREATE DATABASE sales', 'CREATE DATABASE sales_eu', 'CREATE DATABASE finance', 'CREATE DATABASE ops');
for (const t of ['sales.orders', 'sales.customers', 'sales_eu.orders', 'finance.invoices', 'ops.tickets']) run(`CREATE TABLE ${t} (id INT PRIMARY KEY, owner VARCHAR(40), note TEXT)`, `INSERT INTO ${t} VALUES (1, 'user001', 'first'), (2, 'user002', 'second')`);
for (const r of ['role_reader', 'role_writer', 'role_analyst', 'role_dba']) run(`CREATE ROLE ${r}`);
run('GRANT SELECT ON sales.* TO role_reader', 'GRANT SELECT, INSERT, UPDATE, DELETE ON sales.* TO role_writer', 'GRANT SELECT (id, owner) ON finance.invoices TO role_analyst', 'GRANT role_reader TO role_analyst', 'GRANT ALL ON *.* TO role_dba');
run("CREATE USER connector@'%' IDENTIFIED BY 'connector-1'", "GRANT CREATE USER ON *.* TO connector@'%'", "GRANT SELECT ON mysql.* TO connector@'%'", "GRANT SELECT, INSERT, UPDATE, DELETE ON sales.* TO connector@'%' WITH GRANT OPTION", "GRANT SELECT, UPDATE ON ops.* TO connector@'%' WITH GRANT OPTION");
for (const r of ['role_reader', 'role_writer', 'role_analyst']) run(`GRANT ${r} TO connector@'%' WITH ADMIN OPTION`);
run("CREATE USER reader@'%' IDENTIFIED BY 'reader-1'", "GRANT SELECT ON mysql.* TO reader@'%'", "CREATE USER limited@'%' IDENTIFIED BY 'limited-1'", "GRANT SELECT ON sales.orders TO limited@'%'", "CREATE USER narrow@'%' IDENTIFIED BY 'narrow-1' WITH MAX_USER_CONNECTIONS 1");
for (let i = 1; i <= 40; i++) {
  const u = `'user${pad(i)}'@'%'`;
  run(`CREATE USER ${u} IDENTIFIED BY 'pw-${pad(i)}'${i === 10 || i === 20 ? ' ACCOUNT LOCK' : i === 30 ? ' PASSWORD EXPIRE' : ''}`);
  if (i % 2 === 0) run(`GRANT role_reader TO ${u}`, `SET DEFAULT ROLE role_reader FOR ${u}`);
  if (i % 5 === 0) run(`GRANT role_writer TO ${u}`);
  if (i % 10 === 0) run(`GRANT role_analyst TO ${u}`);
  if (i % 4 === 0) run(`GRANT SELECT, UPDATE ON ops.tickets TO ${u}`);
  if (i % 8 === 0) run('GRANT SELECT ON `sales\\_eu`.* TO ' + u);
}
run('GRANT role_dba TO user001@\'%\'');
for (const u of ["o'brien", 'a@b', 'jürgen 🚀']) run(`CREATE USER ${q(u)}@'%' IDENTIFIED BY 'pw-odd1'`, `GRANT role_reader TO ${q(u)}@'%'`);
run("CREATE USER dup@'%' IDENTIFIED BY 'pw-dup1'", "CREATE USER dup@'10.0.0.%' IDENTIFIED BY 'pw-dup2'");
console.log(out.map((s) => s + ';').join('\n'));
JS
  # roles cannot be made by an init file (it has no current user), so that one only makes the first account
  printf "%s\n" "CREATE USER admin@'%' IDENTIFIED BY 'admin-secret-1';" "GRANT ALL ON *.* TO admin@'%' WITH GRANT OPTION;" > "$V/init.sql"; I=(--init-file="$V/init.sql")
fi
setsid "$R/usr/sbin/mariadbd" --no-defaults --basedir="$R/usr" --plugin-dir="$R/usr/lib/mysql/plugin" --datadir="$V/db" --user="$(id -un)" \
  --bind-address=127.0.0.1 --port="$P" --socket=server.sock --pid-file=server.pid --skip-name-resolve --character-set-server=utf8mb4 \
  --ssl-ca="$D/tls/ca.crt" --ssl-cert="$D/tls/server.crt" --ssl-key="$D/tls/server.key" --require-secure-transport="${REQUIRE_TLS:-0}" \
  --plugin-load-add=simple_password_check --simple-password-check-minimal-length=6 --simple-password-check-digits=1 --simple-password-check-letters-same-case=0 --simple-password-check-other-characters=0 \
  --max-connections="${MAX_CONNECTIONS:-50}" --innodb-buffer-pool-size=32M --innodb-log-file-size=8M --innodb-flush-log-at-trx-commit=2 --performance-schema=OFF "${I[@]}" > "$V/server.log" 2>&1 < /dev/null & pid_save "$V/server.pid" $!
wait_port "$P" "$V/server.pid" 60 "$V/server.log"
[ -e "$V/seeded" ] || "$R/usr/bin/mariadb" --no-defaults -h 127.0.0.1 -P "$P" -u admin -padmin-secret-1 --ssl --skip-ssl-verify-server-cert --default-character-set=utf8mb4 < "$V/seed.sql" >&2 || { stop; die "seeding failed"; }
"$R/usr/sbin/mariadbd" --version | sed 's/.*Ver \([0-9.]*\).*/\1/' > "$V/version"; : > "$V/seeded"; show
