#!/usr/bin/env bash
# OpenLDAP (Debian's slapd): PORT ldap:// with StartTLS, PORT+1 ldaps://. Own configuration and database, nothing under /etc.
# Environment: REQUIRE_TLS=1 (13 for a simple bind in clear), TLS_FAULT=expired|name (see lib.sh), PAGE=25 (most entries per search or page),
# EXPIRED=1 (the connector's own password has expired: 49),
# CROWD=0 (number of people in ou=crowd, each in three groups of ou=crowds, about a thousand in each),
# HUGE=0 (number of members, without entries of their own, of the only group in ou=huge).
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); R=$D/root; V=$D/data; B=dc=example,dc=test
stop() { pid_stop "$V/server.pid"; }
show() { jq -n --argjson p "$(cat "$V/port")" --arg ca "$D/tls/ca.crt" --arg b "$B" '{system:"openldap",url:"ldap://127.0.0.1:\($p)",ldapsUrl:"ldaps://127.0.0.1:\($p+1)",ca:$ca,
  baseDn:$b,auth:{type:"simple",bindDn:"cn=connector,ou=services,\($b)",password:"connector-secret",note:"people and groups, but not cn=admins; pages only"},
  others:[{bindDn:"cn=reader,ou=services,\($b)",password:"reader-secret",note:"reads; every write is 50"},{bindDn:"cn=nopage,ou=services,\($b)",password:"nopage-secret",note:"may not page: 11"},
    {bindDn:"cn=admin,\($b)",password:"admin-secret",note:"no limits, sees ou=vault"}],
  seeded:{people:"60 in ou=people: uid=user001..user052 (password pw-NNN; user025 and user050 locked) and 8 with odd names",bulk:"1,440 accounts in ou=bulk",
    groups:["engineering","support","sales","admins","staff (engineering+support)","company (staff+sales)","solo (one member)","everyone (1,500 members)","unique (uniqueMember)","unix (memberUid)"],
    referral:"ou=branch",hidden:"ou=vault",answers:{busy:"cn=busy,ou=answers",unavailable:"cn=unavailable,ou=answers",slow15s:"cn=slow,ou=answers"}}}'; }
# Where Debian's packages are installed they are used; elsewhere they are unpacked into the folder.
if [ -x /usr/sbin/slapd ] && command -v ldapmodify >/dev/null; then R=; fi
fetch() { if [ -n "$R" ]; then apt_extract "$R" slapd ldap-utils; fi; }
case $cmd in install) fetch; exit 0;; stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; start) P=${3:?port};; *) usage;; esac
if pid_alive "$V/server.pid"; then show; exit 0; fi
stop; port_free "$P"; port_free $((P+1))
fetch; tls_make "$D/tls"
A=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")
export LD_LIBRARY_PATH="$R/usr/lib/$A:$R/lib/$A" LDAPNOINIT=1
mkdir -p "$V"; echo "$P" > "$V/port"; S=ou=services,$B
cat > "$V/slapd.conf" <<C
modulepath $R/usr/lib/ldap
$(for m in back_mdb ppolicy memberof refint unique retcode dynlist; do echo "moduleload $m"; done)
$(for s in core cosine inetorgperson nis; do echo "include $R/etc/ldap/schema/$s.schema"; done)
TLSCACertificateFile $D/tls/ca.crt
TLSCertificateFile $D/tls/server.crt
TLSCertificateKeyFile $D/tls/server.key
${REQUIRE_TLS:+security simple_bind=128}
database mdb
lastbind on
suffix "$B"
rootdn "cn=admin,$B"
rootpw admin-secret
directory $V/db
maxsize $((268435456 + ${CROWD:-0} * 16384 + ${HUGE:-0} * 1024))
index objectClass,uid,cn,mail,member,memberOf eq
index entryCSN,entryUUID eq
limits dn.exact="cn=nopage,$S" size=${PAGE:-25} size.prtotal=disabled
limits * size=${PAGE:-25} size.pr=${PAGE:-25} size.prtotal=unlimited
access to attrs=userPassword by dn.exact="cn=connector,$S" write by self write by anonymous auth by * none
access to dn.subtree="ou=vault,$B" by * none
access to dn.subtree="ou=services,$B" by anonymous auth by users read
access to dn.exact="cn=admins,ou=groups,$B" by users read by * none
access to dn.regex="(^|,)ou=(people|groups),$B\$" by dn.exact="cn=connector,$S" write by self write by anonymous auth by users read
access to * by users read by * none
overlay memberof
memberof-refint true
overlay refint
refint_attributes member
refint_nothing "cn=nobody,$S"
overlay unique
unique_uri ldap:///ou=people,$B?mail?sub
overlay ppolicy
ppolicy_default "cn=policy,$S"
ppolicy_use_lockout
overlay dynlist
dynlist-attrset labeledURIObject labeledURI member
overlay retcode
retcode-parent "ou=answers,$B"
retcode-item "cn=busy" 51 text="busy"
retcode-item "cn=unavailable" 52 text="unavailable"
retcode-item "cn=slow" 0 sleeptime=15
C
if [ ! -d "$V/db" ]; then
  mkdir -p "$V/db"
  node - "$B" "${EXPIRED:-}" "${CROWD:-0}" "${HUGE:-0}" > "$V/seed.ldif" <<'JS'
const [, , b, expired, crowded, huge] = process.argv, pad = (n, w = 3) => String(n).padStart(w, '0'), out = [], dnOf = new Map(), of = new Map();
const line = (k, v) => /^[ -~]*$/.test(v) && !/^[ :<]|\s$/.test(v) ? `${k}: ${v}` : `${k}:: ${Buffer.from(v).toString('base64')}`;
const add = (dn, o) => out.push([dn, o]);
const esc = (v) => v.replace(/[,+"\\<>;=]/g, '\\$&').replace(/^[ #]/, '\\$&');
add(b, { objectClass: ['dcObject', 'organization'], o: 'Example' });
for (const ou of ['people', 'bulk', 'groups', 'services', 'vault']) add(`ou=${ou},${b}`, { objectClass: 'organizationalUnit' });
add(`cn=policy,ou=services,${b}`, { objectClass: ['applicationProcess', 'pwdPolicy'], pwdAttribute: 'userPassword', pwdMinLength: '6', pwdCheckQuality: '2', pwdLockout: 'TRUE', pwdMaxFailure: '5', pwdLockoutDuration: '60' });
for (const n of ['connector', 'reader', 'nopage', 'nobody']) add(`cn=${n},ou=services,${b}`, { objectClass: ['applicationProcess', 'simpleSecurityObject'], userPassword: `${n}-secret`,
  ...(expired && n === 'connector' ? { pwdPolicySubentry: `cn=hourly,ou=services,${b}`, pwdChangedTime: '20240101000000Z' } : {}) });
if (expired) add(`cn=hourly,ou=services,${b}`, { objectClass: ['applicationProcess', 'pwdPolicy'], pwdAttribute: 'userPassword', pwdMaxAge: '3600' });
add(`cn=key,ou=vault,${b}`, { objectClass: 'applicationProcess' });
add(`ou=branch,${b}`, { objectClass: ['referral', 'extensibleObject'], ref: `ldap://branch.invalid/ou=branch,${b}` });
const person = (dn, uid, cn, more = {}) => add(dn, { objectClass: 'inetOrgPerson', cn, sn: cn.trim().split(' ').pop(), displayName: cn, mail: `${uid}@example.test`, uid, ...more });
const people = [], all = [];
for (let i = 1; i <= 52; i++) {
  const uid = `user${pad(i)}`, dn = `uid=${uid},ou=people,${b}`; people.push(dn);
  person(dn, uid, `User ${pad(i)}`, { employeeNumber: String(i), userPassword: `pw-${pad(i)}`, ...(i % 25 ? {} : { pwdAccountLockedTime: '000001010000Z' }) });
}
['Doe, Jane', 'R+D Lead', 'Bob "Bobby" Quote', ' Leading Space', 'Jürgen Größe', 'Rocket 🚀 Person', '#hash \\ back; <semi>=', "O'Brien (Pat*)"].forEach((cn, i) => {
  const dn = `cn=${esc(cn)},ou=people,${b}`; people.push(dn); person(dn, `odd${i + 1}`, cn, { userPassword: `pw-odd${i + 1}` });
});
all.push(...people);
for (let i = 1; i <= 1440; i++) { const dn = `uid=bulk${pad(i, 4)},ou=bulk,${b}`; all.push(dn); add(dn, { objectClass: 'account', uid: `bulk${pad(i, 4)}` }); }
const group = (n, member) => { const dn = `cn=${n},ou=groups,${b}`; add(dn, { objectClass: 'groupOfNames', member }); for (const m of member) of.set(m, [...(of.get(m) ?? []), dn]); return dn; };
const e = group('engineering', people.filter((_, i) => i % 5 === 0)), s = group('support', people.filter((_, i) => i % 10 === 0)), sa = group('sales', people.slice(52));
group('admins', [people[0]]); group('company', [group('staff', [e, s]), sa]); group('solo', [people[1]]); group('everyone', all);
add(`cn=unique,ou=groups,${b}`, { objectClass: 'groupOfUniqueNames', uniqueMember: [people[2], people[52]] });
add(`cn=unix,ou=groups,${b}`, { objectClass: 'posixGroup', gidNumber: '5000', memberUid: ['user003', 'odd1', 'nobody'] });
const crowd = Number(crowded), crowds = Math.max(3, Math.ceil(crowd * 3 / 1000)), held = Array.from({ length: crowds }, () => []);
if (crowd > 0) for (const ou of ['crowd', 'crowds']) add(`ou=${ou},${b}`, { objectClass: 'organizationalUnit' });
for (let n = 0; n < crowd; n++) {
  const dn = `uid=crowd${pad(n, 7)},ou=crowd,${b}`; person(dn, `crowd${pad(n, 7)}`, `Crowd ${n}`);
  for (let k = 0; k < 3; k++) held[(n + k) % crowds].push(dn);
}
if (crowd > 0) held.forEach((member, n) => add(`cn=crowd${n},ou=crowds,${b}`, { objectClass: 'groupOfNames', member }));
if (Number(huge) > 0) {
  add(`ou=huge,${b}`, { objectClass: 'organizationalUnit' });
  add(`cn=huge,ou=huge,${b}`, { objectClass: 'groupOfNames', member: Array.from({ length: Number(huge) }, (_, n) => `uid=huge${n},ou=people,${b}`) });
}
for (const [dn, o] of out) console.log([line('dn', dn), ...Object.entries({ ...o, ...(of.has(dn) ? { memberOf: of.get(dn) } : {}) }).flatMap(([k, v]) => [v].flat().map((x) => line(k, x)))].join('\n') + '\n');
JS
  "$R/usr/sbin/slapd" -T add -q -f "$V/slapd.conf" -l "$V/seed.ldif" > "$V/seed.log" 2>&1 || { tail -5 "$V/seed.log" >&2; rm -rf "$V/db"; die "seeding failed"; }
fi
setsid "$R/usr/sbin/slapd" -d 0 -h "ldap://127.0.0.1:$P ldaps://127.0.0.1:$((P+1))" -f "$V/slapd.conf" > "$V/server.log" 2>&1 < /dev/null & pid_save "$V/server.pid" $!
wait_port $((P+1)) "$V/server.pid" 20 "$V/server.log"
show
