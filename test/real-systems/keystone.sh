#!/usr/bin/env bash
# OpenStack Keystone, Identity API v3: X-Auth-Token from a password or an application credential;
# users, groups, projects, domains, roles, role assignments. SQLite, one uWSGI process on loopback.
# `install DIR` only installs.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); R=$D/root; V=$D/data
# The seeded database is stored and cached with the installation, until this script changes.
seed() { echo "$(cd -P "$R" && pwd)/seed-$(cksum < "${BASH_SOURCE[0]}" | cut -d' ' -f1)"; }
stop() { pid_stop "$V/server.pid"; }
show() { jq -n --arg b "http://127.0.0.1:$(cat "$V/port")/v3" --slurpfile s "$S/seed.json" '{system:"keystone",baseUrl:$b,
  auth:{type:"token",username:"admin",password:"admin-secret",domain:"default",project:"admin",tokenUrl:($b+"/auth/tokens"),header:"X-Auth-Token"}} + $s[0]'; }
case $cmd in stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; install) apt_extract "$R" keystone; exit 0;; start) P=${3:?port};; *) usage;; esac
apt_extract "$R" keystone; S=$(seed)
if pid_alive "$V/server.pid" && curl -sf -o /dev/null "http://127.0.0.1:$(cat "$V/port")/v3"; then show; exit 0; fi
stop; port_free "$P"
A=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu"); PY=/usr/bin/python3
export PYTHONPATH="$R/usr/lib/python3/dist-packages" LD_LIBRARY_PATH="$R/usr/lib/$A:$R/lib/$A" OS_KEYSTONE_CONFIG_DIR="$V" OS_KEYSTONE_CONFIG_FILES=keystone.conf
mkdir -p "$V/fernet" "$V/credential" "$V/log"; echo "$P" > "$V/port"
cat > "$V/keystone.conf" <<C
[DEFAULT]
log_dir = $V/log
use_stderr = false
public_endpoint = http://127.0.0.1:$P/
[cache]
enabled = true
backend = oslo_cache.dict
[database]
connection = sqlite:///$V/keystone.db
[fernet_tokens]
key_repository = $V/fernet
[fernet_receipts]
key_repository = $V/fernet
[credential]
key_repository = $V/credential
[identity]
password_hash_rounds = 4
[oauth2]
oauth2_authn_methods = client_secret_basic
C
if [ ! -e "$S/keystone.db" ]; then         # build the seeded database once; later starts copy it
  rm -f "$V"/keystone.db*
  $PY - "$V" "$V/seed.json" "http://127.0.0.1:$P/v3/" "$(id -un)" "$(id -gn)" > "$V/log/seed.log" 2>&1 <<'PYEOF' || { tail -5 "$V/log/seed.log" >&2; die "seeding failed"; }
import os, sys, json, uuid
import keystone.conf
from keystone.server import backends
from keystone.cmd import cli, manage
def km(*args):  # keystone-manage, without importing all of Keystone again
    pid = os.fork()
    if pid == 0:
        sys.argv = ['keystone-manage', '--config-file', sys.argv[1] + '/keystone.conf', *args]
        manage.main()
        os._exit(0)
    if os.waitpid(pid, 0)[1]: sys.exit(args[0] + ' failed')
owner = ('--keystone-user', sys.argv[4], '--keystone-group', sys.argv[5])
km('db_sync')
km('fernet_setup', *owner)
km('credential_setup', *owner)
km('bootstrap', '--bootstrap-username', 'admin', '--bootstrap-password', 'admin-secret', '--bootstrap-project-name', 'admin', '--bootstrap-role-name', 'admin',
   '--bootstrap-service-name', 'keystone', '--bootstrap-region-id', 'RegionOne', '--bootstrap-public-url', sys.argv[3])
keystone.conf.configure()
keystone.conf.CONF(args=[], project='keystone', default_config_files=[sys.argv[1] + '/keystone.conf'])
from keystone.common import sql
sql.initialize()
backends.load_backends()
from keystone.common import provider_api
P = provider_api.ProviderAPIs
I, A, R, C = P.identity_api, P.assignment_api, P.role_api, P.resource_api
roles = {r['name']: r['id'] for r in R.list_roles()}
aud = uuid.uuid4().hex; R.create_role(aud, {'id': aud, 'name': 'auditor', 'options': {}}); roles['auditor'] = aud
proj = {}
def project(name, parent='default'):
    i = uuid.uuid4().hex
    proj[name] = C.create_project(i, {'id': i, 'name': name, 'domain_id': 'default', 'parent_id': parent, 'enabled': True, 'is_domain': False, 'description': ''})['id']
for n in ('sales', 'finance', 'ops'): project(n)
project('ops-prod', proj['ops'])
groups = {n: I.create_group({'name': n, 'domain_id': 'default', 'description': ''})['id'] for n in ('engineering', 'support', 'empty')}
A.create_grant(roles['member'], group_id=groups['engineering'], project_id=proj['ops'])
A.create_grant(roles['reader'], group_id=groups['support'], project_id=proj['sales'])
A.create_grant(roles['auditor'], group_id=groups['support'], domain_id='default')
names = ['sales', 'finance', 'ops']
for k in range(1, 251):
    n = 'user%03d' % k
    u = I.create_user({'name': n, 'password': 'pw-%03d' % k, 'domain_id': 'default', 'enabled': k % 25 != 0, 'email': n + '@example.com'})
    A.create_grant(roles['member' if k % 2 else 'reader'], user_id=u['id'], project_id=proj[names[k % 3]])
    if k % 5 == 0: I.add_user_to_group(u['id'], groups['engineering'])
    if k % 10 == 0: I.add_user_to_group(u['id'], groups['support'])
adm = [u for u in I.list_users(domain_scope='default') if u['name'] == 'admin'][0]['id']
ap = [p for p in C.list_projects() if p['name'] == 'admin'][0]['id']
cid = uuid.uuid4().hex
P.application_credential_api.create_application_credential({'id': cid, 'name': 'connector', 'secret': 'connector-secret', 'user_id': adm, 'project_id': ap, 'roles': [{'id': roles['admin']}], 'unrestricted': False, 'system': None, 'expires_at': None, 'description': None})
json.dump({'applicationCredential': {'id': cid, 'secret': 'connector-secret'},
  'others': [{'username': 'user001', 'password': 'pw-001', 'note': 'no admin role: 403'}, {'username': 'user025', 'password': 'pw-025', 'note': 'disabled: 401'}],
  'seeded': {'users': 'user001..user250 (password pw-NNN, every 25th disabled)', 'groups': groups, 'projects': proj, 'roles': roles}}, open(sys.argv[2], 'w'))
PYEOF
  $PY -c 'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("pragma journal_mode=wal"); c.execute("pragma wal_checkpoint(truncate)")' "$V/keystone.db"
  mkdir -p "$S.$$"; cp -a "$V/fernet" "$V/credential" "$V/keystone.db" "$V/seed.json" "$S.$$"; mv -T "$S.$$" "$S"
elif [ ! -e "$V/keystone.db" ]; then
  cp -a "$S/fernet" "$S/credential" "$V/"; cp "$S/keystone.db" "$V/keystone.db"
fi
setsid "$R/usr/bin/uwsgi-core" --plugins-dir "$R/usr/lib/uwsgi/plugins" --plugin python311 --http-socket "127.0.0.1:$P" \
  --wsgi-file "$R/usr/bin/keystone-wsgi-public" --processes 1 --threads 4 --die-on-term --add-header "Connection: close" --buffer-size 65535 --disable-logging > "$V/server.log" 2>&1 < /dev/null & pid_save "$V/server.pid" $!
wait_http "http://127.0.0.1:$P/v3" "$V/server.pid" 60 "$V/server.log"
show
