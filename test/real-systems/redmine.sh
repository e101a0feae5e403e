#!/usr/bin/env bash
# Redmine REST API: X-Redmine-API-Key; users, groups, projects, members with roles. SQLite, one Puma process on loopback.
# `install DIR` only installs.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cmd=${1:-}; [ -n "${2:-}" ] || usage; mkdir -p "$2"; D=$(cd "$2" && pwd); R=$D/root; V=$D/data
# The application and its seeded database are stored with the installation, until this script changes.
seed() { echo "$(cd -P "$R" && pwd)/seed-$(cksum < "${BASH_SOURCE[0]}" | cut -d' ' -f1)"; }
stop() { pid_stop "$V/server.pid"; }
show() { jq -n --arg b "http://127.0.0.1:$(cat "$V/port")" --arg v "$(cat "$S/version")" '{system:"redmine",baseUrl:$b,version:$v,
  auth:{token:"c0ffee0123456789abcdef0123456789abcdef01"},
  others:[{token:"0001ab0123456789abcdef0123456789abcdef01",note:"no administrator: 403"}],
  seeded:{users:"user001..user150 (password pw-NNN-long), every 25th locked",groups:["engineering","support","empty"],projects:["sales","finance","ops","ops-prod"]}}'; }
case $cmd in stop) stop; exit 0;; reset) stop; rm -rf "$V"; exit 0;; install) apt_extract "$R" redmine-sqlite redmine puma; exit 0;; start) P=${3:?port};; *) usage;; esac
apt_extract "$R" redmine-sqlite redmine puma; S=$(seed); R=$(cd -P "$R" && pwd)
if pid_alive "$V/server.pid" && curl -s -o /dev/null "http://127.0.0.1:$(cat "$V/port")/"; then show; exit 0; fi
stop; port_free "$P"; mkdir -p "$V"
A=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu"); RV=$(basename "$R"/usr/bin/ruby3.*); RV=${RV#ruby}.0; RUBY=$R/usr/bin/ruby${RV%.0}
L=$R/usr/lib/ruby G=$R/usr/share/rubygems-integration
export HOME=$V LD_LIBRARY_PATH=$R/usr/lib/$A RUBYLIB=$L/$RV:$R/usr/lib/$A/ruby/$RV:$L/vendor_ruby:$L/vendor_ruby/$RV:$R/usr/lib/$A/ruby/vendor_ruby/$RV \
  GEM_HOME=$V/gems GEM_PATH=$G/all:$G/$RV:$R/usr/lib/$A/rubygems-integration/$RV:$L/gems/$RV:$R/var/lib/gems/$RV \
  RAILS_ENV=production REDMINE_LANG=en SECRET_KEY_BASE=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
# Files of an instance are below instances/NAME; the name points outside the shared application.
instance() { mkdir -p "$1"/{config,tmp/cache,log,files}; printf 'production:\n  adapter: sqlite3\n  timeout: 5000\n  database: %s\n' "$1/redmine.db" > "$1/config/database.yml"
  export REDMINE_INSTANCE; REDMINE_INSTANCE=$(realpath -m --relative-to="$S/app/instances" "$1"); }
build() {
  rm -rf "$S"; mkdir -p "$S"; cp -r "$R/usr/share/redmine" "$S/app"; cd "$S/app"
  rm -f instances config/database.yml Gemfile.lock log tmp files; mkdir instances
  # Its own Gemfile looks for databases at fixed addresses.
  sed -i '/^# Include database gems/,$d; /^group :test/,/^end/d' Gemfile; echo 'gem "sqlite3"' >> Gemfile
  instance "$S/made"
  # In one chain, so that a failing step ends it even where `set -e` does not apply.
  "$RUBY" bin/rake db:migrate && "$RUBY" bin/rails runner - <<'RUBY' && mv "$S/made/redmine.db" "$V/version" "$S" && rm -rf "$S/made" && : > "$S/.done"
Redmine::DefaultData::Loader.load('en')
Setting.rest_api_enabled = '1'
Setting.login_required = '1'
def user(login, admin: false, password:, key: nil)
  u = User.new(firstname: login.capitalize, lastname: 'Example', mail: "#{login}@example.com", admin: admin, language: 'en')
  u.login = login
  u.password = u.password_confirmation = password
  u.save!
  Token.create!(user: u, action: 'api').update_column(:value, key) if key
  u
end
ActiveRecord::Base.transaction do
  user('keyway', admin: true, password: 'keyway-secret', key: 'c0ffee0123456789abcdef0123456789abcdef01')
  groups = %w(engineering support empty).to_h { |n| [n, Group.create!(name: n)] }
  projects = %w(sales finance ops).to_h { |n| [n, Project.create!(name: n.capitalize, identifier: n, is_public: false)] }
  child = Project.create!(name: 'Ops production', identifier: 'ops-prod', is_public: false)
  child.set_parent!(projects['ops'])
  projects['ops-prod'] = child
  roles = Role.givable.to_h { |r| [r.name, r] }
  Member.create!(project: projects['ops'], principal: groups['engineering'], roles: [roles['Developer']])
  users = (1..150).map { |k| user(format('user%03d', k), password: format('pw-%03d-long', k), key: k == 1 ? '0001ab0123456789abcdef0123456789abcdef01' : nil) }
  users.each.with_index(1) do |u, k|
    Member.create!(project: projects[%w(sales finance)[k % 2]], principal: u, roles: [roles[k % 10 == 0 ? 'Manager' : 'Reporter']])
    groups['engineering'].users << u if k % 5 == 0
    groups['support'].users << u if k % 10 == 0
    u.update_column(:status, User::STATUS_LOCKED) if k % 25 == 0
  end
  users[1].update_column(:last_login_on, Time.utc(2026, 1, 2, 3, 4, 5))
end
File.write(ENV.fetch('HOME') + '/version', Redmine::VERSION.to_s.split('.').first(3).join('.'))
RUBY
}
( flock 9; [ -e "$S/.done" ] || build ) 9> "$R/seed.lock" > "$V/seed.log" 2>&1 || { tail -5 "$V/seed.log" >&2; die "seeding failed"; }
echo "$P" > "$V/port"; instance "$V"; [ -e "$V/redmine.db" ] || cp "$S/redmine.db" "$V/redmine.db"
cd "$S/app"
setsid "$RUBY" "$R/usr/bin/puma" -q -e production -b "tcp://127.0.0.1:$P" -t 1:4 config.ru > "$V/server.log" 2>&1 < /dev/null & pid_save "$V/server.pid" $!
wait_http "http://127.0.0.1:$P/login" "$V/server.pid" 90 "$V/server.log"
show
