/**
 * The blocks of commands on the pages, by page and first command: which test runs them unchanged, and why
 * the others are not run.
 */

/** Run in this order by test/e2e/docs.test.ts, page by page; each with its output. */
export const RUN_HERE: Readonly<Record<string, RegExp>> = {
  "runtime/docs/start.md: curl -s http://127.0.0.1:8090/warehouse/scim/Groups/g-11 -H 'authorization: Bearer sample-token'":
    /"members":\[\{/,
  'runtime/docs/administer/people.md: npx keyway users import people.csv --dry-run':
    /Nothing was stored[\s\S]*Imported\./,
  [`runtime/docs/administer/people.md: ${shorthand()}`]: /Auditor[\s\S]*204$/m,
  'runtime/docs/administer/people.md: leaver=$(core "$api/users?search_term=lena&size=1" | first)':
    /"status":"SCHEDULED"[\s\S]*204$/m,
  [`runtime/docs/administer/scim.md: ${shorthand()}`]: /"token":"lss_[\s\S]*"total":1/,
  [`runtime/docs/administer/apps.md: ${shorthand()}`]: /"app_class_id":"scim","auth_schema"/,
  [`runtime/docs/administer/sync.md: ${shorthand()}`]:
    /"status":"SYNCING"[\s\S]*(RUNNING|SUCCEEDED)[\s\S]*"every_hours": 12/,
  [`runtime/docs/administer/store.md: ${shorthand()}`]: /"discoverability":"FULL"/,
  'runtime/docs/administer/store.md: permission=$(core "$api/appstore/requestable_permissions?app_id=$app&search_term=office" | first)':
    /"appstore_visibility":"VISIBLE"/,
  [`runtime/docs/administer/policies.md: ${shorthand()}`]: /"name":"Designers draw"[\s\S]*204$/m,
  [`runtime/docs/administer/reviews.md: ${shorthand()}`]:
    /"reviewers":"MANAGERS"[\s\S]*"scope_options"[\s\S]*204$/m,
  [`runtime/docs/administer/findings.md: ${shorthand()}`]:
    /"items"[\s\S]*id,kind,severity,state[\s\S]*"name":"Draw or count"[\s\S]*204$/m,
  "runtime/docs/administer/webhooks.md: npx keyway webhooks add 'Our SIEM' --type SIEM --to https://siem.acme.example/keyway":
    /whsec_[\s\S]*Our SIEM/,
  'runtime/docs/operate/mail.md: npx keyway mail show': /No mail is sent/,
  'runtime/docs/operate/secrets.md: npx keyway login-link': /http:\/\/\S+#/,
  'runtime/docs/operate/secrets.md: npx keyway rotation': /./,
  'runtime/docs/operate/monitoring.md: npx keyway doctor': /./,
  'runtime/docs/authors/guide.md: npx keyway new acme': /ok +acme 0\.1\.0/,
  'runtime/docs/operate/backup.md: npx keyway backup /backups/keyway.tar.gz': /./,
  'runtime/docs/operate/backup.md: npx keyway restore /backups/keyway.tar.gz': /./,
}

/** Run by another test: its file, and the text at which it uses the block. */
export const RUN_ELSEWHERE: Readonly<Record<string, readonly [file: string, begins: string]>> = {
  'README.md: curl -s http://127.0.0.1:8080/connectors/scim/list_accounts -H \'content-type: application/json\' -d \'{"auth":{"token":{"token":"sample-token"}},"settings":{"base_url":"http://127.0.0.1:8090/scim"},"request":{},"page":{"size":5}}\'':
    ['test/e2e/sample.test.ts', 'prints the call that %s shows'],
  'runtime/docs/start.md: curl -s http://127.0.0.1:8080/connectors/scim/list_accounts -H \'content-type: application/json\' -d \'{"auth":{"token":{"token":"sample-token"}},"settings":{"base_url":"http://127.0.0.1:8090/scim"},"request":{},"page":{"size":5}}\'':
    ['test/e2e/sample.test.ts', 'prints the call that %s shows'],
  'runtime/docs/start.md: core() { curl -sS -H "authorization: Bearer $(cat data/admin-token)" "$@"; echo; }':
    ['test/e2e/sample.test.ts', 'completes a task with the commands of the page'],
  'runtime/docs/start.md: first() { sed -E \'s/^(\\{"items":)?\\[\\{"id":"([^"]+)".*/\\2/\'; }': [
    'test/e2e/sample.test.ts',
    'pasted(/^first',
  ],
  [`runtime/docs/start.md: ${shorthand()}`]: [
    'test/e2e/sample.test.ts',
    'in the ten commands of the page',
  ],
  'runtime/docs/administer/apps.md: curl -s http://127.0.0.1:8080/apps -H "authorization: Bearer $(cat data/admin-token)" -H \'content-type: application/json\' -d \'{"app_class_id":"scim","auth":{"token":"sample-token"},"settings":{"base_url":"http://127.0.0.1:8090/scim"}}\'':
    ['test/e2e/sample.test.ts', 'runtime/docs/administer/apps.md'],
  'runtime/docs/authors/guide.md: npx keyway start > keyway.log 2>&1 &': [
    'test/cli/readme.test.ts',
    'shellBlock(/^npx keyway start',
  ],
  'runtime/docs/authors/guide.md: npx keyway check acme --against acme-0.1.0.tgz': [
    'test/cli/readme.test.ts',
    'shellBlock(/^npx keyway check acme --against',
  ],
  'runtime/docs/operate/connectors.md: npx keyway install acme-0.1.0.tgz --dry-run': [
    'test/cli/readme.test.ts',
    'shellBlock(/^npx keyway install',
  ],
  "runtime/docs/operate/registry.md: npx keyway publish ./registry --key acme.key --withdraw acme@1.0.0 --reason 'it lists suspended accounts as active'":
    ['test/cli/withdraw.test.ts', 'shellBlock(/^npx keyway publish .*--withdraw'],
  'runtime/docs/operate/install.md: npm init --yes && npm pkg set type=module': [
    'test/e2e/tarball.test.ts',
    'await install(tarball, home)',
  ],
}

const TESTS = 'they are what runs these tests'
const LONG = 'it takes minutes to hours; that npm knows it is tested'
const SERVES = 'it serves until it is stopped; test/cli has tests of it'

/** Not run unchanged, with the reason. That each command exists with its options is tested for these, too. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'README.md: npm start -- --sample': TESTS,
  'runtime/docs/start.md: npm start -- --sample': TESTS,
  'runtime/docs/operate/install.md: npm start': TESTS,
  'runtime/docs/operate/registry.md: npx keyway publish ./registry acme-1.0.0.tgz --key acme.key':
    'it needs a package; test/cli/install.test.ts has one',
  'runtime/docs/operate/registry.md: npx keyway publish ./registry --key acme.key --mirror https://mirror.acme.example':
    'it needs a registry; test/connectors/published/published.test.ts has mirrors',
  "runtime/docs/operate/registry.md: npx keyway trust acme.key.pub --name 'Acme Inc.'":
    'its addresses stand for others; test/cli/install.test.ts runs them',
  'runtime/docs/authors/guide.md: npx keyway check plugins/acme --update': SERVES,
  "runtime/docs/authors/ldap.md: export KEYWAY_PRIVATE_EGRESS='staff=127.0.0.1:3890' KEYWAY_PLAIN_LDAP='staff=127.0.0.1:3890'":
    'there is no such directory; test/testing/ldap-record.test.ts records from another one',
  "runtime/docs/authors/sql.md: export KEYWAY_PRIVATE_EGRESS='hr=127.0.0.1:5432' KEYWAY_PLAIN_SQL='hr=127.0.0.1:5432'":
    'there is no such database; test/testing/sql-cases.test.ts records from another one',
  "runtime/docs/authors/recipes.md: KEYWAY_PRIVATE_EGRESS='acme=127.0.0.1:9000' npx keyway dev plugins/acme":
    SERVES,
  'runtime/docs/administer/people.md: npx keyway person export ada@example.com > ada.json':
    'the sample has no such person; test/cli/person.test.ts runs both',
  'runtime/docs/administer/reviews.md: npx keyway review list':
    'its names stand for others; test/cli/review.test.ts runs them',
  'runtime/docs/reference/evidence.md: python3 verify_evidence.py quarter.jsonl --key FINGERPRINT':
    'its names stand for others; test/cli/review.test.ts runs it',
  'runtime/docs/operate/mail.md: npx keyway mail test ada@acme.example':
    'it needs a mail server; test/core/mail/mail.test.ts has one',
  'runtime/docs/operate/deploy.md: npm pack': 'it needs root and systemd',
  'runtime/docs/operate/deploy.md: sudo -u keyway env KEYWAY_DATA_DIR=/var/lib/keyway/data /opt/keyway/node_modules/.bin/keyway list':
    'it needs the user of the service',
  'runtime/docs/operate/deploy.md: podman build -f scripts/deploy/Containerfile -t keyway .':
    'it needs podman',
  'runtime/docs/operate/containment.md: npx keyway verify': LONG,
  'runtime/docs/design/measurements.md: npm run bench': LONG,
  'runtime/docs/design/measurements.md: npm run soak': LONG,
}

/** The first command of pages that send requests as the operator. */
function shorthand(): string {
  return `core() { curl -sS -H "authorization: Bearer $(cat data/admin-token)" -H 'content-type: application/json' "$@"; echo; }`
}
