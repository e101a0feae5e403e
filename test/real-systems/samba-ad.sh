#!/usr/bin/env bash
# Samba as an Active Directory domain controller (Debian's samba), LDAP only: PORT ldap:// with StartTLS, PORT+1 ldaps://.
# Its ports are fixed (389, 636) and its files belong in /usr, so it runs in separate namespaces (network, mounts), with its packages overlaid on /usr there,
# and a forwarder connects PORT through a Unix socket. Needs root with CAP_SYS_ADMIN (in a container: one that allows unshare and overlay mounts).
# Environment: TLS_FAULT=expired|name (see lib.sh), ALLOW_CLEAR=1 (accept simple binds without TLS, else 8).
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); R=$D/root; V=$D/data; B=DC=ad,DC=example,DC=test
# The seeded domain is stored and cached with the installation, until this script or the month changes: its passwords are valid for 42 days.
seed() { echo "$(cd -P "$R" && pwd)/seed-$(cksum < "${BASH_SOURCE[0]}" | cut -d' ' -f1)-$(date +%Y-%m)"; }
stop() { pid_stop "$V/outer.pid"; pid_stop "$V/server.pid"; pid_stop "$V/inner.pid"; }
show() { jq -n --argjson p "$(cat "$V/port")" --arg ca "$D/tls/ca.crt" --arg b "$B" '{system:"samba-ad",url:"ldap://127.0.0.1:\($p)",ldapsUrl:"ldaps://127.0.0.1:\($p+1)",ca:$ca,baseDn:$b,
  auth:{type:"simple",bindDn:"connector@ad.example.test",password:"Connector-Secret-1",note:"Account Operators: users and groups, not the administrators"},
  others:[{bindDn:"reader@ad.example.test",password:"Reader-Secret-1",note:"an ordinary user: 50"},{bindDn:"administrator@ad.example.test",password:"Admin-Secret-1",note:"everything"}],
  seeded:{people:"user001..user050 in OU=People (password Pw-NNN-secret; user010 and user020 disabled, user030 account expired, user040 must change password, user005 has Contractors as primary group)",
    groups:["Engineering","Support","Staff (Engineering+Support)","Company (Staff)","Contractors","Everyone (1,600 members)"],bulk:"1,550 contacts in OU=Bulk",odd:"Doe\\, Jane; R\\+D Lead; Jürgen Größe 🚀 (no password, disabled)"}}'; }
can() { [ "$(id -u)" = 0 ] && unshare -mn true 2> /dev/null || die "this needs namespaces of its own: root with CAP_SYS_ADMIN"; }
fetch() { apt_extract "$R" samba-ad-dc samba-ad-provision; }
case $cmd in install) can; fetch; exit 0;; stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; start) P=${3:?port};; *) usage;; esac
if pid_alive "$V/server.pid" && pid_alive "$V/outer.pid"; then show; exit 0; fi
stop; port_free "$P"; port_free $((P+1))
can; fetch; tls_make "$D/tls"; S=$(seed)
mkdir -p "$V"; echo "$P" > "$V/port"; cd "$V"
# inside CMD...  runs CMD with the packages overlaid on /usr, a separate /run, and only a loopback network. The domain is at /run/ad there, since its files
# contain their path.
cat > inside.sh <<I
set -e
mount -t overlay overlay -o lowerdir=$R/usr:/usr /usr; mount -t tmpfs tmpfs /run
mkdir /run/ad; mount --bind ad /run/ad
/usr/bin/python3 -c 'import fcntl,socket,struct; fcntl.ioctl(socket.socket(),0x8914,struct.pack("16sh",b"lo",0x49))'
unset PYTHONPATH LD_LIBRARY_PATH
exec "\$@"
I
build() {
  mkdir ad
  cat > seed.py <<'PY'
import sys, struct
from samba.samdb import SamDB
from samba.param import LoadParm
from samba.auth import system_session
from samba.sd_utils import SDUtils
import ldb as L
lp = LoadParm(); lp.load(sys.argv[1]); b = 'DC=ad,DC=example,DC=test'
db = SamDB(url=lp.private_path('sam.ldb'), session_info=system_session(), lp=lp)
for ou in ('People', 'Groups', 'Bulk'): db.add({'dn': 'OU=%s,%s' % (ou, b), 'objectClass': 'organizationalUnit'})
def user(name, pw, **k):
    db.newuser(name, pw, userou='OU=People', mailaddress=name + '@ad.example.test', useusernameascn=True, **k)
    return 'CN=%s,OU=People,%s' % (name, b)
def change(dn, **k):
    m = L.Message(L.Dn(db, dn))
    for a, v in k.items(): m[a] = L.MessageElement(v, L.FLAG_MOD_REPLACE, a)
    db.modify(m)
def group(name, members):
    db.newgroup(name, groupou='OU=Groups'); dn = 'CN=%s,OU=Groups,%s' % (name, b)
    m = L.Message(L.Dn(db, dn)); m['member'] = L.MessageElement(members, L.FLAG_MOD_ADD, 'member'); db.modify(m); return dn
db.transaction_start()
p = [user('user%03d' % i, 'Pw-%03d-secret' % i, givenname='User', surname='%03d' % i) for i in range(1, 51)]
for n, s in (('connector', 'Connector-Secret-1'), ('reader', 'Reader-Secret-1')): db.newuser(n, s)
db.add_remove_group_members('Account Operators', ['connector'])
for n in ('Domain Admins', 'Administrator'): SDUtils(db).dacl_add_ace('CN=%s,CN=Users,%s' % (n, b), '(D;;WPWDSDDT;;;AO)')   # a Windows DC does this by itself
for i in (10, 20): change(p[i - 1], userAccountControl='514')
change(p[29], accountExpires='132223104000000000'); change(p[39], pwdLastSet='0')
odd = []
for i, cn in enumerate(('Doe\\, Jane', 'R\\+D Lead', 'Jürgen Größe 🚀'), 1):
    dn = 'CN=%s,OU=People,%s' % (cn, b); odd.append(dn)
    db.add({'dn': dn, 'objectClass': 'user', 'sAMAccountName': 'odd%d' % i})
e = group('Engineering', p[::5]); s = group('Support', p[::10] + odd); st = group('Staff', [e, s]); group('Company', [st])
c = group('Contractors', [p[4]])
sid = db.search(c, scope=L.SCOPE_BASE, attrs=['objectSid'])[0]['objectSid'][0]
change(p[4], primaryGroupID=str(struct.unpack('<I', sid[-4:])[0]))
bulk = []
for i in range(1, 1551):
    dn = 'CN=bulk%04d,OU=Bulk,%s' % (i, b); bulk.append(dn); db.add({'dn': dn, 'objectClass': 'contact'})
group('Everyone', p + bulk)
db.transaction_commit()
PY
  { unshare -mn bash inside.sh /usr/bin/python3 /usr/bin/samba-tool domain provision --realm=AD.EXAMPLE.TEST --domain=AD --server-role=dc --dns-backend=SAMBA_INTERNAL \
      --adminpass=Admin-Secret-1 --targetdir=/run/ad --host-name=dc1 --host-ip=127.0.0.1 --host-ip6=::1 --option="dns forwarder=" --option="smb ports=445" &&
    unshare -mn bash inside.sh /usr/bin/python3 seed.py /run/ad/etc/smb.conf; } > setup.log 2>&1 < /dev/null || { tail -5 setup.log >&2; rm -rf ad; die "setup failed"; }
  rm -rf "${S%/*}"/seed-*; mv ad "$S.new"; mv "$S.new" "$S"
}
if [ ! -d ad ]; then ( flock 9; [ -d "$S" ] || build; cp -a "$S" ad ) 9> "${S%/*}/seed.lock"; fi
N=$(command -v node)
cat > forward.js <<'JS'
const net = require('net'), [a, b] = [process.argv.slice(2, 4), process.argv.slice(4, 6)];
for (const [from, to] of [a, b]) net.createServer((c) => { const t = net.connect(/^\d+$/.test(to) ? { port: +to, host: '127.0.0.1' } : { path: to });
  c.pipe(t); t.pipe(c); c.on('error', () => t.destroy()); t.on('error', () => c.destroy()); c.on('close', () => t.destroy()); t.on('close', () => c.destroy()); }).listen(/^\d+$/.test(from) ? { port: +from, host: '127.0.0.1' } : { path: from });
JS
rm -f ldap.sock ldaps.sock
O=("--option=tls certfile=$D/tls/server.crt" "--option=tls keyfile=$D/tls/server.key" "--option=tls cafile=$D/tls/ca.crt" '--option=server services=ldap' '--option=bind interfaces only=yes' '--option=interfaces=lo')
[ -z "${ALLOW_CLEAR:-}" ] || O+=('--option=ldap server require strong auth=no')
setsid unshare -mn bash inside.sh bash -c 'setsid '"$N"' forward.js ldap.sock 389 ldaps.sock 636 > inner.log 2>&1 < /dev/null & echo $! > inner.pid; exec "$@"' - \
  /usr/sbin/samba -i -M single -s /run/ad/etc/smb.conf "${O[@]}" --debug-stdout -d1 > server.log 2>&1 < /dev/null & pid_save server.pid $!
for i in $(seq 100); do if [ -S ldaps.sock ]; then break; fi; sleep 0.1; done; [ -S ldaps.sock ] || die "no forwarder"
pid_save inner.pid "$(cat inner.pid)"
setsid "$N" forward.js "$P" ldap.sock $((P+1)) ldaps.sock > outer.log 2>&1 < /dev/null & pid_save outer.pid $!
for i in $(seq 100); do    # until the certificate is loaded
  if echo | openssl s_client -connect 127.0.0.1:$((P+1)) > /dev/null 2>&1; then show; exit 0; fi
  pid_alive server.pid || { tail -5 server.log >&2; stop; die "the server exited"; }; sleep 0.2
done; tail -5 server.log >&2; stop; die "no answer"
