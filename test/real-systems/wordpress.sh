#!/usr/bin/env bash
# WordPress REST API: Basic auth with application passwords; users with roles. MariaDB on a socket, PHP's own server on loopback.
# Where Debian's packages are installed they are used; elsewhere they are unpacked into the folder. `install DIR` only installs.
# Environment: PERMALINKS=plain (no /wp-json: only ?rest_route=). Files in the printed mu-plugins folder are loaded at once.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); R=$D/root; V=$D/data; H=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -e /usr/share/wordpress/wp-load.php ] && [ -x /usr/bin/php8.2 ] && compgen -G '/usr/lib/php/*/mysqli.so' > /dev/null && [ -x /usr/sbin/mariadbd ]; then R=; fi
fetch() { [ -z "$R" ] || apt_extract "$R" wordpress php8.2-cli php8.2-mysql mariadb-server; }
stop() { pid_stop "$V/server.pid"; pid_stop "$V/database.pid"; }
show() { jq -n --arg b "http://127.0.0.1:$(cat "$V/port")" --arg v "$(cat "$V/version")" --arg p "$V/content/mu-plugins" --argjson m "$(cat "$V/database.pid" | cut -d' ' -f1)" '{system:"wordpress",baseUrl:$b,version:$v,
  auth:{username:"keyway",password:"abcd EFGH ijkl MNOP qrst UVWX"},plugins:$p,databasePid:$m,
  others:[{username:"user001",password:"AAAA BBBB CCCC DDDD EEEE FFFF",note:"an author: no right to list users"}],
  seeded:{users:"user001..user150 (password pw-NNN-long): every 2nd subscriber, every 10th editor as well, every 25th no role, others author; user003 may export by itself",
    roles:["shop_manager (added, held by user007)","proofreader (added, held by nobody)"],posts:"2 by user001"}}'; }
case $cmd in stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; install) fetch; exit 0;; start) P=${3:?port};; *) usage;; esac
if pid_alive "$V/server.pid"; then show; exit 0; fi
stop; port_free "$P"; fetch
A=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")
export LD_LIBRARY_PATH="$R/usr/lib/$A:$R/lib/$A"
# Without the machine's php.ini: the tables and the extensions are the same everywhere, and no mail is sent.
PHP=("$R/usr/bin/php8.2" -n -d "extension_dir=$(echo "$R"/usr/lib/php/2*)" -d extension=mysqlnd -d extension=mysqli -d sendmail_path=/bin/true -d memory_limit=128M -d variables_order=EGPCS)
# Files are cached: otherwise reading them takes most of the time of a request.
[ ! -e "$(echo "$R"/usr/lib/php/2*)/opcache.so" ] || PHP+=(-d zend_extension=opcache -d opcache.enable_cli=1)
database() { # FOLDER: contains its socket; nothing listens on a port
  setsid "$R/usr/sbin/mariadbd" --no-defaults --basedir="$R/usr" --plugin-dir="$R/usr/lib/mysql/plugin" --datadir="$1/db" --user="$(id -un)" --skip-networking \
    --socket="$1/s" --pid-file=server.pid --character-set-server=utf8mb4 --innodb-buffer-pool-size=16M --innodb-log-file-size=8M --innodb-flush-log-at-trx-commit=2 --debug-no-sync --performance-schema=OFF \
    > "$1/database.log" 2>&1 < /dev/null & pid_save "$1/database.pid" $!
  for _ in $(seq 150); do [ -S "$1/s" ] && return 0; pid_alive "$1/database.pid" || break; sleep 0.1; done; tail -5 "$1/database.log" >&2; die "the database did not start"
}
# WordPress looks for its settings next to its files: the folder of an instance has the files of the first level, and links to the rest.
instance() { # FOLDER
  mkdir -p "$1/site" "$1/content/mu-plugins" "$1/content/themes" "$1/content/plugins"; cp "$R"/usr/share/wordpress/*.php "$1/site/"
  ln -sfn "$R/usr/share/wordpress/wp-admin" "$1/site/wp-admin"; ln -sfn "$R/usr/share/wordpress/wp-includes" "$1/site/wp-includes"; cp "$H/wordpress-config.php" "$1/site/wp-config.php"
}
build() { # the seed: built once, until this script or the seed script changes
  rm -rf "$S"; mkdir -p "$S"; "$R/usr/bin/mariadb-install-db" --no-defaults --basedir="$R/usr" --datadir="$S/db" --user="$(id -un)" --skip-test-db --auth-root-authentication-method=normal --innodb-log-file-size=8M --debug-no-sync
  database "$S"; instance "$S"
  KEYWAY_WP="$S" "${PHP[@]}" "$H/wordpress-seed.php" > "$S/version" && pid_stop "$S/database.pid" && : > "$S/.done"
}
mkdir -p "$V"; S=${KEYWAY_TESTS_SYSTEMS:-$D}/wordpress-$(cat "$H/wordpress.sh" "$H"/wordpress-*.php | cksum | cut -d' ' -f1); mkdir -p "${S%/*}"
( flock 9; [ -e "$S/.done" ] || build ) 9> "$S.lock" > "$V/seed.log" 2>&1 || { tail -5 "$V/seed.log" >&2; die "seeding failed"; }
echo "$P" > "$V/port"; instance "$V"; [ -e "$V/db" ] || { cp -r "$S/db" "$V/db"; cp "$S/version" "$V/version"; }
database "$V"
[ "${PERMALINKS:-}" != plain ] || "$R/usr/bin/mariadb" --no-defaults -u root -S "$V/s" wordpress -e "UPDATE wp_options SET option_value = '' WHERE option_name IN ('permalink_structure', 'rewrite_rules')" || die "the permalinks stay"
KEYWAY_WP="$V" KEYWAY_WP_PORT=$P setsid "${PHP[@]}" -S "127.0.0.1:$P" -t "$V/site" > "$V/server.log" 2>&1 < /dev/null & pid_save "$V/server.pid" $!
wait_port "$P" "$V/server.pid" 30 "$V/server.log"
show
