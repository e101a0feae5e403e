#!/usr/bin/env bash
# 389 Directory Server (Debian's 389-ds-base): PORT ldap:// with StartTLS, PORT+1 ldaps://. Unpacked into the folder, with
# its own configuration and database, and nothing under /etc or /var. `install DIR` only installs.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); R=$D/root; V=$D/data; B=dc=example,dc=test
stop() { pid_stop "$V/server.pid"; }
show() { jq -n --argjson p "$(cat "$V/port")" --arg ca "$D/tls/ca.crt" --arg b "$B" '{system:"389-ds",url:"ldap://127.0.0.1:\($p)",ldapsUrl:"ldaps://127.0.0.1:\($p+1)",ca:$ca,
  baseDn:$b,auth:{type:"simple",bindDn:"cn=connector,ou=services,\($b)",password:"connector-secret",note:"all of ou=people and ou=groups"},
  others:[{bindDn:"cn=Directory Manager",password:"manager-secret",note:"everything"}],
  seeded:{people:"uid=user01..user30 in ou=people (password pw-NN; user10 and user20 locked by nsAccountLock) and one with an odd name",
    groups:["engineering","support","staff (engineering+support)","none (no member)"]}}'; }
fetch() { apt_extract "$R" 389-ds-base ldap-utils; }
case $cmd in install) fetch; exit 0;; stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; start) P=${3:?port};; *) usage;; esac
if pid_alive "$V/server.pid"; then show; exit 0; fi
stop; port_free "$P"; port_free $((P+1))
fetch; tls_make "$D/tls"
# Programs that are installed on the machine are not unpacked.
export PATH="$R/usr/bin:$PATH"
A=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu"); L=$R/usr/lib/$A/dirsrv
export LD_LIBRARY_PATH="$L/plugins:$L:$L/lib:$R/usr/lib/$A:$R/lib/$A"
mkdir -p "$V"; echo "$P" > "$V/port"; S=ou=services,$B
if [ ! -e "$V/seeded" ]; then
  rm -rf "$V/own"; mkdir -p "$V"/own/{config/schema,lock,tmp,cert,ldif,bak,run,inst,log,db}
  cp "$R"/usr/share/dirsrv/schema/* "$R"/etc/dirsrv/schema/* "$V/own/config/schema/"; cp "$R"/etc/dirsrv/config/* "$V/own/config/"
  openssl pkcs12 -export -name Server-Cert -in "$D/tls/server.crt" -inkey "$D/tls/server.key" -passout pass: -out "$V/server.p12"
  { certutil -N -d "$V/own/cert" --empty-password && certutil -A -d "$V/own/cert" -n ca -t CT,, -i "$D/tls/ca.crt" \
    && pk12util -i "$V/server.p12" -d "$V/own/cert" -W ''; } > "$V/install.log" 2>&1 || { tail -5 "$V/install.log" >&2; die "no certificate could be imported"; }
  node - "$V/own" "$L/plugins" "$R/usr/share/dirsrv/data/template-dse.ldif" "$P" "$(id -un)" "$B" > "$V/own/config/dse.ldif" <<'JS'
const { createHash } = require('crypto'), { readFileSync } = require('fs'), [own, plugins, template, port, user, suffix] = process.argv.slice(2);
const hash = '{SSHA512}' + Buffer.concat([createHash('sha512').update('manager-secretsalt').digest(), Buffer.from('salt')]).toString('base64');
const places = { ds_port: port, ds_user: user, ds_passwd: hash, ds_suffix: suffix, rootdn: 'cn=Directory Manager', fqdn: 'localhost', ldapi_enabled: 'off', ldapi: `${own}/run/ldapi`, ldapi_autobind: 'off',
  db_lib: 'bdb', db_home_dir: `${own}/db`, config_dir: `${own}/config`, schema_dir: `${own}/config/schema` };
const plugin = (name, type) => `dn: cn=${name},cn=plugins,cn=config\nobjectClass: top\nobjectClass: nsSlapdPlugin\ncn: ${name}\nnsslapd-pluginpath: lib${name.replace('_', '-')}-plugin\nnsslapd-plugininitfunc: ${name}_plugin_init\nnsslapd-plugintype: ${type}\nnsslapd-pluginenabled: on\nnsslapd-pluginid: ${name}\nnsslapd-pluginversion: none\nnsslapd-pluginvendor: 389 Project\nnsslapd-plugindescription: ${name}\n\n`;
const text = readFileSync(template, 'utf8').replace(/%(\w+)%/g, (all, name) => places[name] ?? `${own}/${name.replace('_dir', '')}`)
  .replace(/^(nsslapd-port: .*)$/m, `$1\nnsslapd-listenhost: 127.0.0.1\nnsslapd-securelistenhost: 127.0.0.1\nnsslapd-security: on\nnsslapd-securePort: ${Number(port) + 1}`)
  .replace(/(cn: MemberOf Plugin[^]*?pluginenabled:) off/, '$1 on');
const made = `dn: cn=userRoot,cn=ldbm database,cn=plugins,cn=config\nobjectClass: top\nobjectClass: extensibleObject\nobjectClass: nsBackendInstance\ncn: userRoot\nnsslapd-suffix: ${suffix}\nnsslapd-directory: ${own}/db/userRoot\n\ndn: cn="${suffix}",cn=mapping tree,cn=config\nobjectClass: top\nobjectClass: extensibleObject\nobjectClass: nsMappingTree\ncn: "${suffix}"\nnsslapd-state: backend\nnsslapd-backend: userRoot\n\n`;
process.stdout.write((text + plugin('entryuuid_syntax', 'syntax') + plugin('entryuuid', 'betxnpreoperation') + made).replace(/^nsslapd-pluginpath: (?=lib)/gim, (start) => `${start}${plugins}/`));
JS
fi
# In the foreground: otherwise the server would close its output and detach.
setsid "$R/usr/sbin/ns-slapd" -D "$V/own/config" -i "$V/own/run/pid" -d 0 > "$V/server.log" 2>&1 < /dev/null & pid_save "$V/server.pid" $!
wait_port "$P" "$V/server.pid" 60 "$V/server.log"
if [ ! -e "$V/seeded" ]; then
  node - "$B" "$S" > "$V/seed.ldif" <<'JS'
const [, , b, s] = process.argv, pad = (n) => String(n).padStart(2, '0'), out = [];
const add = (dn, o) => out.push(`dn: ${dn}\nchangetype: add\n` + Object.entries(o).flatMap(([k, v]) => [v].flat().map((one) => `${k}: ${one}\n`)).join(''));
const rights = () => ({ aci: [`(targetattr="*")(version 3.0; acl "connector"; allow (all) userdn="ldap:///cn=connector,${s}";)`] });
add(b, { objectClass: ['top', 'domain'], dc: 'example' });
for (const ou of ['people', 'groups']) add(`ou=${ou},${b}`, { objectClass: 'organizationalUnit', ou, ...rights() });
add(s, { objectClass: 'organizationalUnit' });
add(`cn=connector,${s}`, { objectClass: ['applicationProcess', 'simpleSecurityObject'], cn: 'connector', userPassword: 'connector-secret' });
const people = [];
for (let n = 1; n <= 30; n++) {
  const uid = `user${pad(n)}`; people.push(`uid=${uid},ou=people,${b}`);
  add(people.at(-1), { objectClass: 'inetOrgPerson', uid, cn: `User ${pad(n)}`, sn: pad(n), givenName: 'User', mail: `${uid}@example.test`, userPassword: `pw-${pad(n)}`, ...(n % 10 || n === 30 ? {} : { nsAccountLock: 'true' }) });
}
add(`cn=Doe\\, Jane \\+ \\"x\\",ou=people,${b}`, { objectClass: 'inetOrgPerson', uid: 'odd', cn: 'Doe, Jane + "x"', sn: 'Doe' });
const group = (cn, member) => add(`cn=${cn},ou=groups,${b}`, { objectClass: 'groupOfNames', cn, ...(member.length ? { member } : {}) });
group('engineering', people.filter((_, n) => n % 2)); group('support', people.filter((_, n) => n % 3 === 0));
group('staff', [`cn=engineering,ou=groups,${b}`, `cn=support,ou=groups,${b}`]); group('none', []);
console.log(out.join('\n'));
JS
  LDAPNOINIT=1 ldapmodify -x -H "ldap://127.0.0.1:$P" -D 'cn=Directory Manager' -w manager-secret -f "$V/seed.ldif" > "$V/seed.log" 2>&1 || { tail -5 "$V/seed.log" >&2; stop; die "seeding failed"; }
  : > "$V/seeded"
fi
show
