/** The console: permissions, pages, and changes that are requested, previewed and made. */
import { generateKeyPairSync } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SETTINGS } from '../../../runtime/config/config.ts'
import { ROLES } from '../../../runtime/contract/models/roles.ts'
import { keysOf } from '../../../runtime/contract/schema/keys.ts'
import { accounts, apps } from '../../../runtime/database/schema/apps.ts'
import { findings } from '../../../runtime/database/schema/findings.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { accessReviews } from '../../../runtime/database/schema/reviews.ts'
import { scimUsers } from '../../../runtime/database/schema/scim.ts'
import { entitlements } from '../../../runtime/database/schema/sync.ts'
import { CALLBACK_PATH } from '../../../runtime/http/console/connect-form.ts'
import { CHANGES, CONSOLE_PAGES } from '../../../runtime/http/console/table.ts'
import { SIDE } from '../../../runtime/http/frame/side.ts'
import { type Directory, startDirectory } from '../../core/directory.ts'
import { withChecksPaused } from '../../core/findings/paused-checks.ts'
import {
  app,
  type CoreHost,
  domainOf,
  group,
  type Person,
  person,
  SECRET,
  startCore,
} from '../../core/host.ts'
import { company } from '../../core/requests/company.ts'
import { until } from '../../e2e/until.ts'
import { pagePaths } from '../page-paths.ts'
import { reviewWithLines } from '../review-lines.ts'
import { signedIn, type Visitor, visit } from '../settings/visitor.ts'

const HOSTILE = `<img src=x onerror=alert(1)>\u202e"'&amp;${'x'.repeat(150)}`

let core: CoreHost
let ada: Person
let appId: string
let params: Record<string, string>
let directory: Directory
beforeAll(async () => {
  directory = await startDirectory()
  core = await startCore({ KEYWAY_PRIVATE_EGRESS: `scim=${directory.host}` })
  const acme = company(core)
  ada = await person(core.db, 'ada@example.com')
  appId = await acme.inStore(await app(core.db, HOSTILE, { connectorId: 'scim' }))
  const permission_id = await acme.group(appId, 'readers', HOSTILE)
  await group(core.db, 'On call', [ada])
  const [licence] = await core.db
    .insert(entitlements)
    .values({
      ...{
        domainId: await domainOf(core.db),
        appId,
        entitlementType: 'LICENCE',
        externalId: 'pro',
      },
      ...{ resourceId: '', label: `=${HOSTILE}`, isAssignable: true, seenRun: 0 },
    })
    .returning()
  await acme.asked(ada, { app_id: appId })
  params = { app_id: appId, user_id: ada.id, connector_id: 'scim', permission_id }
  params['app_class_id'] = 'scim'
  params['licence_id'] = String(licence?.id)
  await core.host.settled
})
afterAll(async () => {
  await core.stop()
  await directory.close()
})

const admin = () => signedIn(core)

/** Counts the lines of a review by state. */
async function statesOf(id: string): Promise<Record<string, number>> {
  const { rows } = await core.db.execute<{ state: string; n: number }>(
    sql`select state, count(*)::int as n from access_review_items where review_id = ${id} group by state`,
  )
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]))
}

/** Texts of a page in its own language: without code and without elements marked as another language. */
const textsOf = (page: string): string[] => {
  const body = page
    .slice(page.indexOf('<main'))
    .replace(/<(code|pre|script|textarea)\b[^>]*>[\s\S]*?<\/\1>/g, ' ')
    .replace(/<(\w+)[^>]*\b(?:lang="en"|class="[^"]*\bmono\b[^"]*")[^>]*>[^<]*<\/\1>/g, ' ')
  const spoken = [...body.matchAll(/\s(?:aria-label|placeholder|title)="([^"]*)"/g)]
  const shown = body.split(/<[^>]*>/)
  return [...shown, ...spoken.map(([, words = '']) => words)]
    .map((words) => words.trim())
    .filter((words) => /\p{L}{2}/u.test(words))
}

/** Words that are the same in both languages. */
const NAMES = [
  ...[
    'Connector',
    'Connectors',
    'Generation',
    'Host',
    'Hosts',
    'Keyway',
    'Name',
    'Token',
    'Webhooks',
  ],
  // From the connector, and from a call for the company of these tests.
  ...['{settings.base_url}', 'app access'],
]

/** Addresses, people of this file, capabilities, methods, state codes, times, and the hostile app name. */
const IS_NAME =
  /@|^\w+ Test$|^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$|^[A-Z_]+$|^[\d.,]+ (?:ms|s|k?B)$|…$|^[A-Z]+(?:, [A-Z]+)+$|&lt;img/

/** The pages that exist without anything installed, except files. */
const paths = (all: readonly string[] = Object.values(CONSOLE_PAGES).map(({ path }) => path)) =>
  all
    .map((path) => path.replace(/:(\w+)/g, (withOwnKey, name) => params[name] ?? withOwnKey))
    .filter((path) => !path.includes(':') && !/\/people\/[^/]+\/evidence$/.test(path))

describe('the console', () => {
  test('is refused to a person without a role for it', async () => {
    const visitor = await signedIn(core, ada.token)
    expect((await visitor.get('/access')).text).not.toContain('href="/console"')
    for (const path of paths())
      expect((await visitor.get(path)).status, path).toBe(path.startsWith('/inbox') ? 404 : 403)
  })

  test('redirects to the sign-in, with the way back in the address', async () => {
    const { status, headers } = await visit(core).get('/console/apps?page=2')
    expect(status).toBe(303)
    expect(headers.get('location')).toContain(encodeURIComponent('/console/apps?page=2'))
  })

  test.each([
    ['Auditor', ['home', 'log', 'reviews']],
    ['App Admin', ['home', 'apps', 'requests']],
    [
      'Read Only Admin',
      ['home', 'log', 'people', 'apps', 'requests', 'reviews', 'policies', 'scim', 'cost'],
    ],
  ])('links and opens exactly the pages that %s may read', async (role, places) => {
    const who = await person(core.db, `${role.replaceAll(' ', '')}@example.com`, [role])
    const visitor = await signedIn(core, who.token)
    const { status, text } = await visitor.get('/console')
    expect(status).toBe(200)
    for (const [name, { path }] of Object.entries(SIDE)) {
      expect(text.includes(`href="${path}"`), name).toBe(places.includes(name))
      expect((await visitor.get(path)).status, name).toBe(places.includes(name) ? 200 : 403)
    }
  })
})

describe('the frame', () => {
  test('uses the language that the browser requests, and so does its body', async () => {
    const visitor = await admin()
    const german = { headers: { 'accept-language': 'de' } }
    const { text } = await visitor.get('/console/policies', german)
    expect(text).toContain('<html lang="de">')
    expect(text).toContain('Richtlinien</a>')
    expect(text).toContain('>Abmelden</button>')
    expect(text).toMatch(
      /<div class="page" lang="de">[\s\S]*<h1 class="wrap">Zugangsrichtlinien<\/h1>/,
    )
    expect((await visitor.get('/console/reviews', german)).text).toMatch(
      /<div class="page" lang="de">[\s\S]*<h1 class="wrap">Zugriffsüberprüfungen<\/h1>/,
    )
  })
})

describe('every page', () => {
  test('renders for an operator, without inline scripts or styles, and escapes markup in names', async () => {
    const visitor = await admin()
    for (const path of paths()) {
      const { status, text, headers } = await visitor.get(path)
      // An OAuth callback without a pending authorization.
      expect(status, path).toBe(path === CALLBACK_PATH ? 400 : 200)
      expect(headers.get('content-security-policy'), path).toMatch(/^default-src 'none';/)
      // A CSV file is not a page.
      if (headers.get('content-type')?.startsWith('text/csv')) continue
      expect(text, path).not.toMatch(
        /<style|\sstyle=|\son[a-z]+="|<img|<script(?! src="\/assets\/)/,
      )
      expect(text, path).not.toContain('[object')
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
      expect(
        ids.filter((id, at) => ids.indexOf(id) < at),
        path,
      ).toEqual([])
      expect(text, path).not.toMatch(/>(undefined|NaN|null)</)
    }
  })

  test('is fully translated: English and German share only names and codes', async () => {
    const visitor = await admin()
    const german = { headers: { 'accept-language': 'de' } }
    const asking = Object.values(CHANGES).map(({ path }) => path)
    const all = new Set<string>([...paths(), ...paths(asking)])
    const same = new Map<string, string>()
    for (const path of all) {
      const { text, status } = await visitor.get(path, german)
      if (status === 404 || path.endsWith('.csv')) continue
      expect(text, path).toContain('<div class="page" lang="de">')
      const english = new Set(textsOf((await visitor.get(path)).text))
      for (const words of textsOf(text)) if (english.has(words)) same.set(words, path)
    }
    const known = new Set([...NAMES, ...Object.keys(ROLES)])
    expect([...same].filter(([words]) => !known.has(words) && !IS_NAME.test(words))).toEqual([])
  })

  test('of the background names the kinds of work in the language of the page', async () => {
    const { text } = await (await admin()).get('/console/background', {
      headers: { 'accept-language': 'de' },
    })
    expect(text).toContain('>Gleicht eine Anwendung ab</option>')
    expect(text).not.toContain('>syncs</option>')
  })

  test('weighs at most 60 kB compressed, including its style sheet and its script', async () => {
    const visitor = await admin()
    const weightOf = async (path: string) => gzipSync((await visitor.get(path)).text).length
    const shared = (await weightOf('/assets/keyway.css')) + (await weightOf('/assets/keyway.js'))
    expect(shared).toBeGreaterThan(1000)
    for (const [name, path] of pagePaths(params))
      expect(shared + (await weightOf(path)), name).toBeLessThanOrEqual(60_000)
  })

  test('that does not exist answers 404, also for an unknown connector or app, and a wrong method 405', async () => {
    const visitor = await admin()
    for (const path of ['/console/nothing', '/console/connectors/none', '/console/apps/none'])
      expect((await visitor.get(path)).status, path).toBe(404)
    expect((await visitor.post('/console')).status).toBe(405)
  })

  test('of a list accepts invalid page numbers and odd search texts', async () => {
    const visitor = await admin()
    for (const query of [
      'page=0',
      'page=999999999',
      'page=x',
      'name_search=%00',
      'name_search=%27%22',
    ])
      expect((await visitor.get(`/console/apps?${query}`)).status, query).toBe(200)
  })
})

describe('a list', () => {
  const firstOf = async (path: string) => {
    const { status, text } = await (await admin()).get(path)
    expect(status, path).toBe(200)
    const [, head = ''] = /<th scope="col"[^>]*( aria-sort="[^"]*")/.exec(text) ?? []
    const [, first = ''] = /<th scope="row" class="wrap">([\s\S]*?)<\/th>/.exec(text) ?? []
    return { text, first, sorted: head.trim() }
  }

  /** Creates entries of a list. */
  const MORE: Record<string, (name: string) => Promise<unknown>> = {
    '/console/policies': (name) =>
      core.call('POST', '/access_policies', {
        body: {
          ...{ name, business_justification: 'They sell.', apps: [{ id: appId }] },
          access_condition: { attribute: 'identity.email', equals: 'ada@example.com' },
        },
      }),
    '/console/reviews': async (name) =>
      core.db.insert(accessReviews).values({
        ...{ domainId: await domainOf(core.db), name, status: 'IN_PROGRESS' },
        deadlineAt: new Date('2999-01-01'),
      }),
  }

  test.each([
    ['/console/people', 'email', 'ascending'],
    ['/console/apps', 'name', 'ascending'],
    ['/console/requests', 'asked', 'descending'],
    ['/console/policies', 'name', null],
    ['/console/reviews', 'name', null],
    ['/console/log', 'began', 'descending'],
    ['/console/connectors', 'id', null],
  ])('%s is sorted by its column headers, in both directions', async (path, key, usual) => {
    if (path === '/console/apps') await app(core.db, 'Zebra', { connectionSource: 'UI' })
    const bea = await person(core.db, `bea${key}${path.replaceAll('/', '.')}@example.com`)
    if (path === '/console/requests') await company(core).asked(bea, { app_id: appId })
    for (const name of MORE[path] === undefined ? [] : ['Alpha', 'Zulu']) await MORE[path]?.(name)
    const up = await firstOf(`${path}?sort=${key}`)
    const down = await firstOf(`${path}?sort=-${key}`)
    expect([up.sorted, down.sorted]).toEqual(['aria-sort="ascending"', 'aria-sort="descending"'])
    expect(up.first).not.toBe(down.first)
    expect(up.text).toMatch(new RegExp(`href="${path}\\?[^"]*sort=-${key}"`))
    expect(down.text).toMatch(new RegExp(`href="${path}\\?[^"]*sort=${key}"`))
    const odd = await firstOf(`${path}?sort=nothing`)
    if (usual) expect(odd.sorted).toBe(`aria-sort="${usual}"`)
  })
})

describe('a list of a thousand entries', () => {
  const ODD = [
    '\u{1f9d1}\u200d\u{1f680}',
    '\u202eevil',
    '<script>x()</script>',
    'w'.repeat(200),
    '   ',
    '\u200b',
  ]

  test('with odd names is shown page by page, and every link has text', async () => {
    const domainId = await domainOf(core.db)
    const all = Array.from({ length: 1000 }, (_, at) => ODD[at % ODD.length] ?? '')
    await core.db.insert(users).values(
      all.map((name, at) => ({
        ...{ domainId, email: `odd${at}@example.com`, givenName: name, familyName: name },
      })),
    )
    await core.db.insert(apps).values(
      all.map((name, at) => ({
        ...{ domainId, name, appClassId: `odd-${at}`, instanceId: 'odd', defaults: { name } },
        ...{ connectorId: null, overrides: {}, sources: ['MANUAL' as const] },
        ...{ status: 'APPROVED' as const, connectionSource: 'UI' as const },
      })),
    )
    const visitor = await admin()
    for (const path of ['/console/people', '/console/apps'])
      for (const page of [1, 10, 20, 21, 22]) {
        const { status, text } = await visitor.get(`${path}?page=${page}`)
        expect(status, path).toBe(200)
        expect(text, path).not.toMatch(/<script>x|\u202e/)
        expect(text, path).not.toMatch(/<a [^>]*>[\s\u200b]*<\/a>/)
        if (page < 21) expect(text.match(/<tr>/g), path).toHaveLength(51)
      }
    await core.db.delete(users).where(sql`email like 'odd%@example.com'`)
    await core.db.delete(apps).where(sql`app_class_id like 'odd-%'`)
  })
})

describe('a change of a connector', () => {
  const stateOf = async (id: string) => {
    const { body } = await core.call('GET', '/operator/connectors')
    return body.items.find((one: { id: string }) => one.id === id)
  }

  test('is previewed by a GET that changes nothing, then made with a reason', async () => {
    const visitor = await admin()
    const asked = await visitor.get('/console/connectors/slack/disable')
    expect(asked.text).toContain('slack: disabled for new calls')
    expect((await stateOf('slack')).serving).toBe(true)
    const done = await visitor.post('/console/connectors/slack/disable', {
      reason: 'It misbehaves',
    })
    expect([done.status, done.headers.get('location')]).toEqual([303, '/console/connectors/slack'])
    expect((await visitor.get('/console/connectors/slack')).text).toContain('It is disabled.')
    expect((await stateOf('slack')).serving).toBe(false)
    const history = await visitor.get('/console/generations')
    expect(history.text).toContain('It misbehaves')
    await visitor.get('/console/connectors/slack/enable')
    await visitor.post('/console/connectors/slack/enable', {})
    expect((await stateOf('slack')).serving).toBe(true)
  })

  test('is refused with 409 if another person was faster, and the page keeps the typed reason', async () => {
    const [one, other] = [await admin(), await admin()]
    for (const visitor of [one, other]) await visitor.get('/console/connectors/okta/disable')
    await one.post('/console/connectors/okta/disable', { reason: 'first' })
    const late = await other.post('/console/connectors/okta/disable', { reason: 'second' })
    expect(late.status).toBe(409)
    expect(late.text).toContain('It was not done')
    expect(late.text).toContain('second')
    await one.get('/console/connectors/okta/enable')
    await one.post('/console/connectors/okta/enable', {})
  })

  test('is refused from another site, from an earlier session, and from a read-only token', async () => {
    const visitor = await admin()
    const path = '/console/connectors/github/disable'
    await visitor.get(path)
    const foreign = await visitor.post(path, {}, { headers: { 'sec-fetch-site': 'cross-site' } })
    const replayed = await visitor.post(path, { form_token: 'x', reason: 'typed' })
    expect([foreign.status, replayed.status]).toEqual([403, 403])
    expect(replayed.text).toContain('typed</textarea>')
    const reader = await person(core.db, 'reads@example.com', ['Admin'])
    const readOnly = await signedIn(core, reader.readOnlyToken)
    expect((await readOnly.get(path)).status).toBe(403)
    expect((await stateOf('github')).serving).toBe(true)
  })

  test('that cannot be made is explained, without a form', async () => {
    const visitor = await admin()
    const { status, text } = await visitor.get('/console/generations/999/rollback')
    expect(status).toBe(404)
    expect(text).toContain('It cannot be done now')
    expect(text).not.toContain('action="/console/generations/999/rollback"')
  })

  test('with an invalid field is refused in the preview', async () => {
    const visitor = await admin()
    await visitor.get('/console/publishers/trust')
    const filled = await visitor.post('/console/publishers/trust', {
      ...{ name: 'Acme', public_key: 'no key', reason: 'x' },
    })
    expect(filled.status).toBe(422)
    expect(filled.text).toContain('It cannot be done now')
  })
})

const inDays = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

describe('every change with fields', () => {
  /** Fields of the first preview, and fields that are edited after it. */
  const FILLED: Record<string, { first: Record<string, string>; later: Record<string, string> }> = {
    trust: {
      first: { name: 'Acme', public_key: 'KEY', reason: 'x' },
      later: { name: 'Evil' },
    },
    'add-role': { first: { role: 'Auditor' }, later: { role: 'Admin' } },
    'licence-price': {
      first: { amount: '12.50', currency: 'EUR', period: 'MONTH' },
      later: { amount: '1250' },
    },
    'break-glass-set': { first: { groups: 'On call', minutes: '30' }, later: { minutes: '600' } },
    offboard: { first: { when: 'now' }, later: { when: 'later', day: '2999-01-01' } },
    'sync-settings': { first: { every_hours: '7' }, later: { every_hours: '1' } },
    'new-webhook': {
      first: { hook_type: 'SIEM', name: 'Ours', url: 'https://siem.example/in' },
      later: { url: 'https://evil.example/in' },
    },
    'new-app': {
      first: { name: 'Fax', category: 'Other', description: 'Sends faxes' },
      later: { name: 'Evil' },
    },
    'edit-app': { first: { description: 'New' }, later: { description: 'Evil' } },
    store: {
      first: { in_store: 'yes', discoverability: 'FULL', manager: 'no', by_hand: 'no' },
      later: { manager: 'yes' },
    },
    'new-permission': { first: { label: 'Send' }, later: { label: 'Evil' } },
    'accept-finding': {
      first: { until: inDays(30), reason: 'Ours' },
      later: { until: inDays(300) },
    },
    'change-webhook': { first: { name: 'Ours' }, later: { url: 'https://evil.example/in' } },
  }

  test('is previewed again after an edit, and is made only as previewed', async () => {
    const { publicKey } = generateKeyPairSync('ed25519')
    const key = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const visitor = await admin()
    const hook = await core.call('POST', '/operator/webhooks', {
      body: { hook_type: 'SIEM', name: 'Theirs', url: 'https://siem.example/in' },
    })
    const domainId = await domainOf(core.db)
    const found = { domainId, kind: 'REAPPEARED', severity: 'HIGH', subject: 'fields' } as const
    await withChecksPaused(core.db, `domain ${domainId}`, async () => {
      const [finding] = await core.db.insert(findings).values(found).returning()
      const ids: Record<string, string> = {
        ...{ ...params, webhook_id: hook.body.webhook.id, finding_id: finding?.id ?? '' },
      }
      const withFields = Object.entries(CHANGES).filter(([, { fields }]) => fields)
      expect(withFields.map(([name]) => name).toSorted()).toEqual(Object.keys(FILLED).toSorted())
      for (const [name, { path }] of withFields) {
        const at = path.replace(/:(\w+)/g, (_, id) => ids[id] ?? '')
        const { first = {}, later = {} } = FILLED[name] ?? {}
        const withOwnKey = (fields: Record<string, string>) =>
          fields['public_key'] ? { ...fields, public_key: key } : fields
        const start = await visitor.get(at)
        expect(start.text, name).not.toContain('name="seen"')
        const given = Object.fromEntries(
          [...start.text.matchAll(/<input id="([^"]+)" name="\1"[^>]* value="([^"]*)"/g)].map(
            ([, id = '', value = '']) => [id, value],
          ),
        )
        const filled = { ...given, ...withOwnKey(first) }
        const shown = (await visitor.post(at, filled)).text
        expect(shown, name).toContain('name="seen"')
        expect(shown, name).toContain('Nothing is changed yet. Press “')
        const edited = await visitor.post(at, { ...filled, ...later })
        expect([edited.status, edited.text.includes('is not what this page showed')], name).toEqual(
          [409, true],
        )
        const back = await visitor.post(at, filled)
        expect(back.status, name).toBe(409)
      }
      const { body } = await core.call('GET', '/operator/publishers')
      expect(JSON.stringify(body)).not.toContain('Evil')
    })
  })
})

describe('an app', () => {
  test('gets its sync settings as previewed', async () => {
    const visitor = await admin()
    const path = `/console/apps/${appId}/sync-settings`
    const form = await visitor.get(path)
    expect(form.text).toMatch(/name="every_hours"[^>]* value="24"/)
    expect(form.text).toMatch(/name="page_size"[^>]* value="1000"/)
    const same = await visitor.post(path, { every_hours: '24', page_size: '1000' })
    expect(same.text).not.toContain('→')
    await visitor.get(path)
    const asked = await visitor.post(path, { every_hours: '5' })
    expect(asked.status).toBe(200)
    expect(asked.text).toContain('→ 5')
    const done = await visitor.post(path, { every_hours: '5' })
    expect(done.status).toBe(303)
    const { body } = await core.call('GET', `/operator/apps/${appId}/sync`)
    expect(body.every_hours).toBe(5)
  })

  test('shows the progress of its syncs, and the actions that are possible', async () => {
    const domainId = await domainOf(core.db)
    await core.db.execute(sql`insert into sync_runs (domain_id, app_id, page_size, state, phase, problem, ended_at)
      values (${domainId}, ${appId}, 100, 'STOPPED', 'judge', 'half of it <b>vanished</b>', now())`)
    const { text } = await (await admin()).get(`/console/apps/${appId}`)
    expect(text).toMatch(/of \d+ phases: judge/)
    expect(text).toContain('half of it &lt;b&gt;vanished&lt;/b&gt;')
    expect(text).toMatch(/\/console\/syncs\/\d+\/accept/)
    // Every part that a sync changes is refreshed while it runs.
    const parts = [...text.matchAll(/<div id="live-(\w+)" data-events="([^"]+)">/g)]
    expect(parts.map(([, name]) => name)).toEqual([
      ...['state', 'stopped', 'runs', 'findings', 'accounts', 'facts'],
    ])
    expect(new Set(parts.map(([, , address]) => address)).size).toBe(1)
  })
})

describe('a finding', () => {
  test('is shown for its app and person, accepted for a time with a reason, and reopened', async () => {
    const visitor = await admin()
    await withChecksPaused(core.db, `app ${appId}`, async () => {
      const [row] = await core.db
        .insert(findings)
        .values({
          ...{ domainId: await domainOf(core.db), kind: 'DORMANT_PRIVILEGE', severity: 'HIGH' },
          ...{ subject: 'console', appId, userId: ada.id, details: { label: HOSTILE } },
        })
        .returning()
      const at = `/console/findings/${row?.id}`
      const [ofApp, ofPerson] = [`/console/apps/${appId}`, `/console/people/${ada.id}`]
      for (const page of [ofApp, ofPerson]) {
        const { text } = await visitor.get(page)
        expect(text).toContain('Privileged access unused for 90 days')
        expect(text).toContain('for a limited time')
        expect(text).toContain(`href="${at}/accept?`)
      }
      const way = `${at}/accept?app_id=${appId}`
      await visitor.get(way)
      const day = inDays(30)
      const typed = { app_id: appId, until: day, reason: 'It is for emergencies' }
      for (const until of ['2999-01-01', '2020-01-01', 'soon']) {
        const odd = await visitor.post(`${at}/accept`, { ...typed, until })
        expect([odd.status, odd.text.includes('within the next 366 days')]).toEqual([422, true])
        expect(odd.text).not.toContain('is accepted until')
      }
      const tooLate = await visitor.post(`${at}/accept`, { ...typed, until: '2999-01-01' })
      expect([tooLate.status, tooLate.text.includes('within the next 366 days')]).toEqual([
        422,
        true,
      ])
      const seen = await visitor.post(`${at}/accept`, typed)
      expect(seen.text).toContain(`is accepted until ${day}`)
      const done = await visitor.post(`${at}/accept`, typed)
      expect([done.status, done.headers.get('location')]).toEqual([303, ofApp])
      const shown = (await visitor.get(ofApp)).text
      expect(shown).toContain(`accepted until ${day}`)
      expect(shown).toContain('It is for emergencies')
      await visitor.get(`${at}/reopen?user_id=${ada.id}`)
      const again = await visitor.post(`${at}/reopen`, { user_id: ada.id })
      expect([again.status, again.headers.get('location')]).toEqual([303, ofPerson])
      const reader = await signedIn(
        core,
        (await person(core.db, 'finds@example.com', ['Read Only Admin'])).token,
      )
      const read = (await reader.get(ofApp)).text
      expect(read).toContain('Privileged access')
      expect(read).not.toContain(`${at}/`)
      expect((await reader.get(way)).status).toBe(403)
      expect(read).toContain(`href="${ofPerson}"`)
      await core.db.delete(findings)
      expect((await visitor.get(ofApp)).text).toContain('Nothing is found')
    })
  })
})

describe('a custom app', () => {
  /** Fills in a form, gets the preview, and confirms it. */
  async function confirmed(visitor: Visitor, path: string, fields: Record<string, string>) {
    await visitor.get(path)
    const shown = await visitor.post(path, fields)
    const done = await visitor.post(path, fields)
    expect([shown.status, done.status, done.text], shown.text).toEqual([200, 303, ''])
    return { shown: shown.text, to: done.headers.get('location') ?? '' }
  }

  test('is added, edited, put into the store with admins and approvers, and given permissions', async () => {
    const visitor = await admin()
    await visitor.get('/console/apps/new')
    const bare = await visitor.post('/console/apps/new', { name: 'Fax' })
    expect([bare.status, bare.text]).toEqual([
      422,
      expect.stringContaining('Fill in: Category; What it is.<'),
    ])
    const odd = '<b>Fax</b> \u{1f4e0} \u05e4\u05e7\u05e1'
    const fields = { name: odd, category: 'Other', description: 'Sends faxes' }
    const { to } = await confirmed(visitor, '/console/apps/new', fields)
    const page = (await visitor.get(to)).text
    expect(page).toContain('&lt;b&gt;Fax&lt;/b&gt; \u{1f4e0}')
    // It has no connector, and therefore no sync and no connection.
    expect(page).not.toMatch(/\/(sync|connection)"/)

    const edit = await confirmed(visitor, `${to}/edit`, {
      ...{ name: 'Fax', category: 'Internal', website_url: 'https://fax.example/' },
      description: 'Sends faxes',
    })
    expect(edit.shown).toContain('Category: “Other” → “Internal”')
    await visitor.get(`${to}/edit`)
    const wrong = await visitor.post(`${to}/edit`, { name: 'Fax', website_url: 'javascript:1' })
    expect([wrong.status, wrong.text.includes('Website: must be an address')]).toEqual([400, true])
    const id = to.split('/').at(-1) ?? ''
    expect((await core.call('GET', `/apps/${id}`)).body).toMatchObject({
      ...{ user_friendly_label: 'Fax', category: 'Internal', description: 'Sends faxes' },
      website_url: 'https://fax.example/',
    })

    const asked = {
      ...{ in_store: 'yes', discoverability: 'FULL', manager: 'yes', by_hand: 'yes' },
      ...{ admins: 'On call', approvers: 'ada@example.com', by_hand_how: 'Send a fax' },
      'length-2': 'yes',
    }
    const store = await confirmed(visitor, `${to}/store`, asked)
    expect(store.shown).toContain('How long access may last: for 8 hours')
    expect((await core.call('GET', `/apps/${id}/settings`)).body).toMatchObject({
      in_app_store: true,
      request_flow: {
        ...{ discoverability: 'FULL', require_manager_approval: true },
        admins: { groups: [{ name: 'On call' }], users: [] },
        approvers: { users: [{ email: 'ada@example.com' }] },
      },
      provisioning: {
        ...{ time_based_access: ['8 hours'], manual_steps_needed: true },
        custom_provisioning_instructions: 'Send a fax',
      },
    })
    const again = await visitor.get(`${to}/store`)
    expect(again.text).toMatch(/name="length-2" value="yes" checked/)
    const nobody = await visitor.post(`${to}/store`, { ...asked, admins: 'nobody@example.com' })
    expect(nobody.text).toContain('is “nobody@example.com”')

    await confirmed(visitor, `${to}/permissions/new`, { label: 'Send faxes' })
    const listed = (await visitor.get(`${to}/permissions`)).text
    expect(listed).toContain('Send faxes')
    expect((await (await signedIn(core, ada.token)).get('/access')).text).toContain('>Fax</a>')
    const [, hide = ''] = /href="([^"]+\/hide)"/.exec(listed) ?? []
    await visitor.get(hide)
    expect((await visitor.post(hide)).status).toBe(303)
    expect((await visitor.get(`${to}/permissions`)).text).toMatch(/Hidden[\s\S]*\/show"/)
    const [, end = ''] = /href="([^"]+\/delete)"/.exec(listed) ?? []
    expect((await visitor.get(end)).text).toContain('Send faxes is deleted')
    expect((await visitor.post(end)).status).toBe(303)
    expect((await visitor.get(`${to}/permissions`)).text).not.toContain('Send faxes')
  })

  test('is disconnected without mention of credentials, which it does not have, and brought back', async () => {
    const visitor = await admin()
    await visitor.get('/console/apps/new')
    const fields = { name: 'Telex', category: 'Other', description: 'Sends telexes' }
    const { to } = await confirmed(visitor, '/console/apps/new', fields)
    const shown = (await visitor.get(`${to}/disconnect`)).text
    expect(shown).toContain('Nothing in Telex can be requested any more')
    expect(shown).toContain('It can be brought back')
    expect(shown).not.toMatch(/credentials|synced|connected again/)
    expect((await visitor.post(`${to}/disconnect`)).status).toBe(303)
    const gone = (await visitor.get(to)).text
    expect(gone).toContain(`href="${to}/return"`)
    expect((await visitor.get(`${to}/return`)).text).toContain('Telex can be requested again')
    expect((await visitor.post(`${to}/return`)).status).toBe(303)
    const back = (await visitor.get(to)).text
    expect(back).toContain('It is back.')
    expect(back).not.toContain(`${to}/return`)
    expect((await visitor.get(`${to}/return`)).text).toContain('Nothing')
    expect((await core.call('GET', `/apps/${to.split('/').at(-1)}`)).body.disconnected).toBe(false)
  })

  test('has approvers named by its admin, who may not list people', async () => {
    const owner = await person(core.db, 'fax-owner@example.com', ['App Admin'])
    const { body } = await core.call('POST', '/apps', {
      body: { name: 'Pager', category: 'Other', description: 'Pages people' },
    })
    const flow = { admins: { users: [{ email: 'FAX-owner@example.com' }] } }
    const own = { token: owner.token }
    const settings = `/apps/${body.id}/settings`
    const made = await core.call('PATCH', settings, { body: { request_flow: flow } })
    expect([made.status, made.body.request_flow.admins.users]).toMatchObject([
      ...[200, [{ id: owner.id }]],
    ])
    expect((await core.call('GET', '/users', own)).status).toBe(403)

    const visitor = await signedIn(core, owner.token)
    const asked = {
      ...{ in_store: 'yes', discoverability: 'FULL', manager: 'no', by_hand: 'no' },
      ...{ admins: 'fax-owner@example.com', approvers: 'ada@example.com' },
    }
    await visitor.get(`/console/apps/${body.id}/store`)
    await confirmed(visitor, `/console/apps/${body.id}/store`, asked)
    const named = await core.call('PATCH', settings, {
      ...own,
      body: { request_flow: { approvers_stage_2: { users: [{ email: 'ada@example.com' }] } } },
    })
    expect(named.body.request_flow).toMatchObject({
      approvers: { users: [{ email: 'ada@example.com' }] },
      approvers_stage_2: { users: [{ email: 'ada@example.com' }] },
    })
    const nobody = { approvers: { users: [{ email: 'nobody@example.com' }] } }
    const refused = await core.call('PATCH', settings, { ...own, body: { request_flow: nobody } })
    expect([refused.status, refused.body.detail[0].msg]).toEqual([
      ...[422, 'Value error, there is no such user'],
    ])
  })

  test('can only be changed with permission to write apps', async () => {
    const reader = await person(core.db, 'reads-custom@example.com', ['Read Only Admin'])
    const reads = await signedIn(core, reader.token)
    for (const path of ['new', `${appId}/edit`, `${appId}/store`, `${appId}/permissions/new`])
      expect((await reads.get(`/console/apps/${path}`)).status, path).toBe(403)
  })
})

describe('connecting an app', () => {
  // The sample directory names its own token in messages; only a field that contains it would be a leak.
  const SECRETS = ['wrong-secret', 'other-secret', 'value="sample-token']
  const form = (token: string, more: Record<string, string> = {}) => ({
    'secret.auth.token': token,
    'settings.base_url': directory.app.settings.base_url,
    ...more,
  })
  const connected = async (): Promise<string[]> => {
    const { body } = await core.call('GET', '/apps?connection_source=API')
    const names = body.items.map((one: { user_friendly_label: string }) => one.user_friendly_label)
    return names.filter((name: string) => ![HOSTILE, 'Fax', 'Pager', 'Telex'].includes(name))
  }

  test('asks for the fields that the connector declares, and shows the errors of the system', async () => {
    const visitor = await admin()
    const list = await visitor.get('/console/connect?query=scim')
    expect(list.text).toContain('href="/console/connect/scim"')
    const asked = await visitor.get('/console/connect/scim')
    expect(asked.text).toMatch(/<input id="secret\.auth\.token"[^>]* type="password"/)
    expect(asked.text).toMatch(/<input id="settings\.base_url"[^>]* required/)
    expect(asked.text).toContain('href="/docs/connectors/scim"')
    const wrong = await visitor.post('/console/connect/scim', form('wrong-secret'))
    expect(wrong.status).toBe(400)
    expect(wrong.text).toContain('SCIM 2.0 did not accept the connection')
    expect(wrong.text).toContain(`value="${directory.app.settings.base_url}"`)
    const none = await visitor.post('/console/connect/scim', form(''))
    expect([none.status, none.text]).toEqual([
      422,
      expect.stringContaining('Fill in: Bearer token'),
    ])
    const nothing = await visitor.post('/console/connect/scim', { 'secret.auth.token': '' })
    expect(nothing.text).toMatch(/Fill in: Bearer token, SCIM base URL/)
    expect(nothing.text).not.toMatch(/[Ss]ettings\.\w+: |[Aa]uth\.token: /)
    const odd = await visitor.post('/console/connect/scim', {
      ...form('sample-token'),
      'settings.base_url': 'no address',
    })
    expect([odd.status, odd.text]).toEqual([422, expect.stringMatching(/SCIM base URL: /)])
    const wrongAddress = await visitor.post('/console/connect/postgresql', {
      ...{ 'auth.username': 'keyway', 'secret.auth.password': 'wrong-secret' },
      'settings.url': 'db.example:5432',
    })
    expect(wrongAddress.status).toBe(422)
    expect(wrongAddress.text).toContain(
      '“db.example:5432” does not fit. It takes: postgresql://db.example',
    )
    expect(wrongAddress.text).not.toContain('does not match')
    for (const { text } of [wrong, none, wrongAddress])
      for (const secret of SECRETS) expect(text).not.toContain(secret)
    expect(await connected()).toEqual([])
  })

  test('stores the connection, rotates its secret without showing it, and disconnects the app', async () => {
    const visitor = await admin()
    await visitor.get('/console/connect/scim')
    const made = await visitor.post('/console/connect/scim', form('sample-token', { name: 'HR' }))
    expect(made.status).toBe(303)
    const path = made.headers.get('location') ?? ''
    const shown = await visitor.get(path)
    expect(shown.text).toContain('It is connected.')
    expect(await connected()).toEqual(['HR'])

    const asked = await visitor.get(`${path}/connection`)
    expect(asked.text).toContain(`value="${directory.app.settings.base_url}"`)
    const unchanged = await visitor.post(`${path}/connection`, form(''))
    expect([unchanged.status, unchanged.text.includes('Nothing was changed')]).toEqual([422, true])
    const elsewhere = await visitor.post(`${path}/connection`, {
      'settings.base_url': 'https://elsewhere.example/scim',
    })
    expect([elsewhere.status, elsewhere.text.includes('Auth: send it again')]).toEqual([400, true])
    const refused = await visitor.post(`${path}/connection`, form('other-secret'))
    expect(refused.status).toBe(400)
    const rotated = await visitor.post(`${path}/connection`, form('sample-token'))
    expect([rotated.status, rotated.headers.get('location')]).toEqual([303, path])
    for (const { text } of [shown, asked, unchanged, elsewhere, refused])
      for (const secret of SECRETS) expect(text).not.toContain(secret)

    const ends = await visitor.get(`${path}/disconnect`)
    expect(ends.text).toContain('The credentials of HR are destroyed')
    expect((await visitor.post(`${path}/disconnect`)).status).toBe(303)
    const after = await visitor.get(path)
    expect(after.text).toContain('Connect again')
    expect((await visitor.get(`${path}/connection`)).text).toMatch(/type="password"[^>]* required/)
  })

  test('requires permission to write apps; an app admin gets 404 for the apps of others', async () => {
    const reader = await person(core.db, 'reader@example.com', ['Read Only Admin'])
    const reads = await signedIn(core, reader.token)
    expect((await reads.get('/console/apps')).text).not.toContain('/console/connect')
    const shown = await reads.get(`/console/apps/${appId}`)
    expect(shown.text).not.toMatch(/\/(connection|disconnect)"/)
    const paths = ['/console/connect', '/console/connect/scim']
    const own = ['connection', 'disconnect'].map((one) => `/console/apps/${appId}/${one}`)
    for (const path of [...paths, ...own]) expect((await reads.get(path)).status, path).toBe(403)
    const owner = await signedIn(
      core,
      (await person(core.db, 'own@example.com', ['App Admin'])).token,
    )
    for (const path of paths) expect((await owner.get(path)).status, path).toBe(403)
    for (const path of own) expect((await owner.get(path)).status, path).toBe(404)
  })

  test('keeps the entered values, except secrets, if the form token is no longer valid', async () => {
    const visitor = await admin()
    await visitor.get('/console/connect/scim')
    const lost = await visitor.post(
      '/console/connect/scim',
      form('sample-token', { form_token: 'x', name: 'Payroll' }),
    )
    expect(lost.status).toBe(403)
    expect(lost.text).toContain('Payroll')
    expect(lost.text).not.toContain('sample-token')
  })
})

describe('a person', () => {
  test('is given a role, and it is taken away again', async () => {
    const visitor = await admin()
    const path = `/console/people/${ada.id}`
    await visitor.get(`${path}/add-role`)
    const asked = await visitor.post(`${path}/add-role`, { role: 'Auditor' })
    expect(asked.text).toContain('gets the role Auditor')
    expect((await visitor.post(`${path}/add-role`, { role: 'Auditor' })).status).toBe(303)
    expect((await visitor.get(path)).text).toContain('Auditor')
    await visitor.get(`${path}/remove-role?role=Auditor`)
    expect((await visitor.post(`${path}/remove-role`, { role: 'Auditor' })).status).toBe(303)
    expect((await visitor.get(path)).text).not.toContain('remove-role?role=Auditor')
  })

  test('is offboarded: previewed, scheduled, cancelled, started, and shown with the progress', async () => {
    const visitor = await admin()
    const leaver = await person(core.db, 'leaver@example.com')
    const path = `/console/people/${leaver.id}`
    const offboard = async (fields: Record<string, string>) => {
      await visitor.get(`${path}/offboard`)
      const shown = await visitor.post(`${path}/offboard`, fields)
      return { shown, done: await visitor.post(`${path}/offboard`, fields) }
    }
    const noDay = await offboard({ when: 'later' })
    expect(noDay.shown.text).toContain('Name the day')
    const later = await offboard({ when: 'later', day: '2999-01-01' })
    expect(later.shown.text).toContain('It begins on 2999-01-01')
    expect(later.done.status).toBe(303)
    const scheduled = (await visitor.get(path)).text
    expect(scheduled).toContain('Scheduled')
    expect((await visitor.get(`${path}/offboard`)).text).toContain(
      'already scheduled or in progress',
    )
    const cancel = /href="([^"]+\/offboarding\/[^"]+\/cancel)"/.exec(scheduled)?.[1] ?? ''
    await visitor.get(cancel)
    expect((await visitor.post(cancel)).status).toBe(303)
    expect((await visitor.get(cancel)).status).toBe(409)
    expect((await visitor.get(path)).text).toContain('Cancelled')
    const begun = await offboard({ when: 'now' })
    expect(begun.shown.text).toContain('can no longer do anything here')
    expect(begun.done.status).toBe(303)
    const { body } = await core.call(
      'GET',
      `/lifecycle-management/user-offboardings?user_id=${leaver.id}`,
    )
    expect(body.items).toMatchObject([
      { accounts: { all: 0, done: 0, by_hand: 0 }, problem: null },
      { status: 'CANCELLED' },
    ])
    await until('the offboarding is COMPLETED', async () => {
      const latest = `/lifecycle-management/user-offboardings?user_id=${leaver.id}`
      return (await core.call('GET', latest)).body.items[0].status === 'COMPLETED' ? true : null
    })
    expect((await visitor.get(path)).text).not.toContain(`${path}/offboard"`)
    const again = await visitor.get(`${path}/offboard`)
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('has no access left')])
    const other = await core.call('GET', '/lifecycle-management/user-offboardings?user_id=nobody')
    expect(other.body.total).toBe(0)
    const reads = await person(core.db, 'reads-leaving@example.com', ['Read Only Admin'])
    const reader = await signedIn(core, reads.token)
    const seen = (await reader.get(path)).text
    expect(seen).toContain('When the person leaves')
    expect(seen).not.toContain(`${path}/offboard`)
    expect((await reader.get(`${path}/offboard`)).status).toBe(403)
  })

  test('is shown with the custom attributes that have a value', async () => {
    const someone = await person(core.db, 'attributes@example.com')
    const text = (value: string) => ({ type: 'TEXT' as const, value })
    await core.db
      .update(users)
      .set({ customAttributes: { department: text(`${HOSTILE} 1`), costCenter: text('') } })
      .where(sql`id = ${someone.id}`)
    const page = await (await admin()).get(`/console/people/${someone.id}`)
    expect(page.text).toMatch(/<dt>department<\/dt><dd>[^<]+ 1<\/dd>/)
    expect(page.text).not.toContain('costCenter')
  })

  test('is shown with the manager, and with the name and id at the identity provider', async () => {
    const boss = await person(core.db, 'manager@example.com')
    const someone = await person(core.db, 'managed@example.com')
    const domainId = await domainOf(core.db)
    await core.db.update(users).set({ managerId: boss.id }).where(sql`id = ${someone.id}`)
    const name = { userName: 'Managed', externalId: '<i>e-1' }
    await core.db.insert(scimUsers).values({ userId: someone.id, domainId, ...name })
    const path = `/console/people/${someone.id}`
    const { text } = await (await admin()).get(path)
    expect(text).toMatch(
      new RegExp(`<dt>Manager</dt><dd><a class="go" href="/console/people/${boss.id}">`),
    )
    expect(text).toContain('<dt>Name at the identity provider</dt><dd>Managed</dd>')
    expect(text).toContain('<dt>Id at the identity provider</dt><dd>&lt;i&gt;e-1</dd>')
    await core.db.update(scimUsers).set({ deletedAt: new Date() })
    expect((await (await admin()).get(path)).text).not.toContain('at the identity provider')
  })

  test('is shown with the access at a moment, with a link to evidence of it', async () => {
    const visitor = await admin()
    const path = `/console/people/${ada.id}`
    const file = await visitor.get(`${path}/evidence`)
    expect(file.headers.get('content-disposition')).toContain(`keyway-access-${ada.id}.jsonl`)
    expect(file.text).toContain(ada.id)
    const moment = new Date().toISOString()
    const then = (await visitor.get(`${path}?as_of=${moment.slice(0, -1)}`)).text
    expect(then).toContain(
      `name="as_of" type="datetime-local" step="1" value="${moment.slice(0, 19)}"`,
    )
    const evidence = `${path}/evidence?as_of=${encodeURIComponent(moment)}`
    expect(then).toContain(`href="${evidence}"`)
    expect((await visitor.get(evidence)).text).toContain(`"as_of":"${moment}"`)
    const today = await visitor.get(`${path}?as_of=${moment.slice(0, 10)}`)
    expect([today.status, today.text]).toEqual([200, expect.stringContaining('step="1" value=""')])
    const clerk = await signedIn(core, (await person(core.db, 'clerk2@example.com')).token)
    expect((await clerk.get(`${path}/evidence`)).status).toBe(403)
  })

  test.each([
    ['2999-01-01T10:00', 'This time is in the future.'],
    ['2999-01-01', 'This time is in the future.'],
    ['2000-01-01', 'Access is recorded since'],
    ['x', 'Name a moment as 2027-03-01T12:00:00'],
  ])(
    'is shown without current access for the invalid moment %s, with the reason',
    async (moment, why) => {
      const visitor = await admin()
      const path = `/console/people/${ada.id}`
      const { status, text } = await visitor.get(`${path}?as_of=${moment}`)
      expect([status, text]).toEqual([422, expect.stringContaining(why)])
      expect(text).toContain('id="as_of"')
      expect(text).not.toContain('id="why"')
      expect(text).not.toContain('/evidence')
      expect((await visitor.get(`${path}/evidence?as_of=${moment}`)).status).toBe(422)
    },
  )

  test('is shown with a section that explains the access', async () => {
    const visitor: Visitor = await admin()
    const { text } = await visitor.get(`/console/people/${ada.id}`)
    expect(text).toContain('What they have, and why')
  })

  test('has accounts that are shown by name, followed by their ids', async () => {
    const domainId = await domainOf(core.db)
    const [guid, other] = ['8d3f2c1e-0b7a-4f5e-9c11-2f0a6f1b9e01', '8d3f2c1e-0b7a-4f5e-9c11-0']
    const own = { domainId, appId, userId: ada.id, status: 'ACTIVE' } as const
    await core.db.insert(accounts).values([
      { ...own, uniqueIdentifier: guid, attributes: { username: 'ada.a' }, email: 'a@ex.com' },
      { ...own, uniqueIdentifier: other, email: 'b@ex.com' },
    ])
    const ours = sql`unique_identifier in (${guid}, ${other})`
    await core.db.execute(sql`
      insert into account_spans (domain_id, app_id, account_id, user_id, unique_identifier, account_type, status, since)
      select domain_id, app_id, id, user_id, unique_identifier, account_type, status, now() from accounts where ${ours}`)
    const visitor: Visitor = await admin()
    const page = (await visitor.get(`/console/people/${ada.id}`)).text
    expect(page).toContain(`<td class=" wrap">Account ada.a<span class="sub">${guid}</span></td>`)
    expect(page).toContain(`Account b@ex.com<span class="sub">${other}</span>`)
    const ofApp = (await visitor.get(`/console/apps/${appId}`)).text
    expect(ofApp).toContain(`>ada.a</a><span class="sub">a@ex.com · ${guid}</span>`)
    expect(ofApp).toContain(`>b@ex.com</a><span class="sub">${other}</span>`)
    const herself = await signedIn(core, ada.token)
    expect((await herself.get('/access')).text).toContain(` · ada.a · ${guid}`)
    await core.db.execute(sql`delete from account_spans where ${ours}`)
    await core.db.delete(accounts).where(ours)
  })
})

describe('a licence', () => {
  const at = () => `/console/licences/${params['licence_id']}`
  const priced = { amount: '12.50', currency: 'eur', period: 'MONTH' }

  test('is given a price as previewed, is shown with it, and is a row of the CSV file', async () => {
    const visitor = await admin()
    expect((await visitor.get('/console/cost')).text).toContain('Set the price')
    await visitor.get(`${at()}/price`)
    const wrong = await visitor.post(`${at()}/price`, { ...priced, amount: 'much' })
    expect(wrong.text).toContain('Amount, such as 12.50: a decimal number such as 12.50')
    expect((await visitor.post(`${at()}/price`, priced)).text).toContain('costs 12.50 EUR a month')
    expect((await visitor.post(`${at()}/price`, priced)).status).toBe(303)
    expect((await visitor.get('/console/cost')).text).toContain('12.50 EUR a month')
    const { text, headers } = await visitor.get('/console/cost/licences.csv')
    expect(headers.get('content-type')).toMatch(/^text\/csv/)
    const [head, row, ...others] = text.trim().split('\r\n')
    expect(head).toMatch(/^id,app_id,/)
    // A text that a spreadsheet would run as a formula is escaped.
    expect(row).toContain(`"'=<img`)
    expect(others).toEqual([])
    const idle = await visitor.get('/console/cost/idle-seats.csv')
    expect(idle.headers.get('content-disposition')).toContain('idle-seats.csv')
    const { body } = await core.call('GET', '/findings?kind=UNUSED_LICENCE&state=OPEN')
    expect(idle.text.trim().split('\r\n')).toHaveLength(body.total + 1)
    expect(idle.text).toMatch(/^id,kind,severity,state/)
    await visitor.get(`${at()}/no-price`)
    expect((await visitor.post(`${at()}/no-price`)).status).toBe(303)
    expect((await visitor.get('/console/cost')).text).toContain('Set the price')
  })

  test('has no price form for a person who may only read', async () => {
    const reader = await person(core.db, 'costs@example.com', ['Read Only Admin'])
    const visitor = await signedIn(core, reader.token)
    expect((await visitor.get('/console/cost')).text).not.toContain('Set the price')
    expect((await visitor.get(`${at()}/price`)).status).toBe(403)
    expect((await visitor.get('/console/cost/expenses.csv')).text).toMatch(/^id,app_id,/)
  })
})

describe('a break-glass permission', () => {
  test('is marked for groups by their names, shown with them, and unmarked', async () => {
    const visitor = await admin()
    const list = `/console/apps/${appId}/permissions`
    const at = `${list}/${params['permission_id']}`
    expect((await visitor.get(`/console/apps/${appId}`)).text).toContain(`href="${list}"`)
    expect((await visitor.get(list)).text).toContain('Make emergency access<span')
    await visitor.get(`${at}/break-glass`)
    const nobody = await visitor.post(`${at}/break-glass`, { groups: 'Nobody', minutes: '30' })
    expect(nobody.text).toContain('There is no group “Nobody”')
    const long = await visitor.post(`${at}/break-glass`, { groups: 'On call', minutes: '1441' })
    expect(long.text).toMatch(/id="not-done">[^<]*: at most 1440\.</)
    const mark = { groups: 'On call', minutes: '30' }
    expect((await visitor.post(`${at}/break-glass`, mark)).text).toContain('by members of On call')
    expect((await visitor.post(`${at}/break-glass`, mark)).status).toBe(303)
    expect((await visitor.get(list)).text).toContain('On call, for 30 minutes')
    const requester = await signedIn(core, ada.token)
    expect((await requester.get('/access/break-glass')).text).toContain('&lt;img src=x')
    expect((await visitor.get(`${at}/break-glass`)).text).toContain('value="30"')
    await visitor.get(`${at}/no-break-glass`)
    expect((await visitor.post(`${at}/no-break-glass`)).status).toBe(303)
    expect((await visitor.get(list)).text).toContain('Make emergency access<span')
  })
})

describe('a review', () => {
  /** Inserts a review of `count` lines, which the admin decides. */
  const lines = (count: number) => reviewWithLines(core, appId, count, HOSTILE)

  test('is decided line by line and by a filter, with a reason where one is required', async () => {
    const id = await lines(30)
    const visitor = await admin()
    const page = await visitor.get(`/inbox/reviews/${id}`)
    expect(page.text).toContain('30 lines wait for you')
    const [, first = ''] = /name="item\.0" value="([^"]+)"/.exec(page.text) ?? []
    const decide = `/inbox/reviews/${id}/decide`
    const chosen = await visitor.post(decide, { decision: 'PAGE', reason: 'typed' })
    expect(chosen.status).toBe(200)
    expect(chosen.text.match(/name="item\.\d+" value="[^"]+" checked/g)).toHaveLength(30)
    expect(chosen.text).toContain('value="typed"')
    const silent = await visitor.post(decide, { 'item.0': first, decision: 'REJECT' })
    expect(silent.status).toBe(400)
    expect(silent.text).toContain('Nothing was decided')
    const done = await visitor.post(decide, { 'item.0': first, decision: 'REJECT', reason: 'left' })
    expect(done.status).toBe(303)
    expect((await visitor.get(`/inbox/reviews/${id}`)).text).toContain('29 lines wait for you')
    await visitor.get(`/inbox/reviews/${id}?hint=NOBODY_ASKED`)
    const all = { all: 'yes', decision: 'KEEP', reason: 'all known' }
    expect((await visitor.post(decide, all)).headers.get('location')).toContain('hint=NOBODY_ASKED')
    expect((await visitor.get(`/inbox/reviews/${id}`)).text).toContain('All your lines are decided')
    const withOwnKey = (await visitor.get(`/console/reviews/${id}`)).text
    expect(withOwnKey).toContain('To be removed')
    expect(withOwnKey).toContain(`href="/inbox/reviews/${id}"`)
    const reads = await person(core.db, 'reads-lines@example.com', ['Read Only Admin'])
    const reader = await signedIn(core, reads.token)
    expect((await reader.get(`/console/reviews/${id}`)).text).not.toContain(
      `href="/inbox/reviews/${id}"`,
    )
  })

  test('changes a decided line if it is ticked, but not if it only matches the filter, and counts both', async () => {
    const id = await lines(3)
    const visitor = await admin()
    const at = `/inbox/reviews/${id}`
    const page = await visitor.get(at)
    const [, first = ''] = /name="item\.0" value="([^"]+)"/.exec(page.text) ?? []
    const one = { 'item.0': first, reason: 'known' }
    expect((await visitor.post(`${at}/decide`, { ...one, decision: 'KEEP' })).status).toBe(303)
    expect((await visitor.get(at)).text).toContain('1 line: kept.')
    const again = await visitor.post(`${at}/decide`, { ...one, decision: 'KEEP' })
    expect(again.status).toBe(409)
    expect(again.text).toContain('1 already had this decision.')
    const changed = await visitor.post(`${at}/decide`, { ...one, decision: 'REJECT' })
    expect(changed.status).toBe(303)
    expect((await visitor.get(at)).text).toContain(
      '1 line: to be removed when the review ends; 1 of them was decided otherwise before.',
    )
    expect(await statesOf(id)).toEqual({ OPEN: 2, REJECTED: 1 })
    const all = { all: 'yes', reason: 'known', decision: 'KEEP' }
    expect((await visitor.post(`${at}/decide`, all)).status).toBe(303)
    expect((await visitor.get(at)).text).toContain('2 lines: kept; 1 was decided before and stays.')
    expect(await statesOf(id)).toEqual({ KEPT: 2, REJECTED: 1 })
  })

  test('keeps the ticks and marks the reason field if the reason is missing', async () => {
    const id = await lines(4)
    const visitor = await admin()
    const at = `/inbox/reviews/${id}`
    const [, second = ''] =
      /name="item\.1" value="([^"]+)"/.exec((await visitor.get(at)).text) ?? []
    const refused = await visitor.post(`${at}/decide`, { 'item.1': second, decision: 'REJECT' })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain(`name="item.1" value="${second}" checked`)
    expect(refused.text).toContain('aria-invalid="true" aria-describedby="not-decided"')
    expect(refused.text).toContain('a reason is needed to remove lines')
    const all = await visitor.post(`${at}/decide`, { all: 'yes', decision: 'REJECT' })
    expect(all.text).toContain('name="all" value="yes" checked')
  })

  test('is counted, launched, reminded of and completed, and its evidence is downloaded', async () => {
    const visitor = await admin()
    const path = '/console/reviews/new'
    const typed = {
      ...{ name: 'Quarter', deadline: '2999-01-01', type: 'ACCOUNTS', reviewers: 'APP_ADMINS' },
      ...{
        second_reviewers: 'MANAGERS',
        on_deadline: 'LEAVE',
        'app.0': appId,
        'group.0': '',
        'value.0': '',
      },
    }
    expect((await visitor.get(path)).text).toContain(`value="${appId}"`)
    const { 'app.0': _, ...bare } = typed
    const searched = await visitor.post(path, { ...bare, find: 'img', looked: '', do: 'enter' })
    expect([searched.status, searched.text.includes(`value="${appId}"`)]).toEqual([200, true])
    const unchosen = await visitor.post(path, { ...bare, find: 'img', do: 'launch' })
    expect([unchosen.status, unchosen.text.includes('value="img"')]).toEqual([422, true])
    const late = await visitor.post(path, { ...typed, deadline: '2001-01-01', do: 'launch' })
    expect([late.status, late.text.includes('value="Quarter"')]).toEqual([422, true])
    const counted = await visitor.post(path, { ...typed, do: 'launch' })
    expect(counted.text).toContain('Lines to decide: 0')
    const launched = await visitor.post(path, { ...typed, do: 'launch' })
    expect(launched.status).toBe(303)
    const made = launched.headers.get('location') ?? ''
    const begun = (await visitor.get(made)).text
    expect(begun).toContain('Quarter')
    expect(begun).toContain('Lines appear here once')
    const filtered = (await visitor.get(`${made}?search=nobody`)).text
    expect(filtered).toContain('No line matches the filter.')
    const settings = await core.call('GET', `/access_reviews/${made.split('/').at(-1)}/settings`)
    expect(settings.body).toMatchObject({ second_reviewers: 'MANAGERS', reviewers: 'APP_ADMINS' })

    const id = await lines(2)
    const at = `/console/reviews/${id}`
    const evidence = await visitor.get(`${at}/evidence`)
    expect(evidence.headers.get('content-disposition')).toContain(`keyway-review-${id}.jsonl`)
    const nobody = await visitor.get(`${at}/remind`)
    expect(nobody.status).toBe(200)
    expect((await visitor.post(`${at}/remind`)).text).toContain('None of its lines is waiting')
    const asked = await visitor.get(`${at}/complete`)
    expect(asked.text).toContain('2 lines that nobody decided')
    expect((await visitor.post(`${at}/complete`)).status).toBe(303)
    const auditor = await person(core.db, 'audits@example.com', ['Auditor'])
    const reader = await signedIn(core, auditor.token)
    expect((await reader.get('/console/reviews')).text).not.toContain(path)
    expect((await reader.get(path)).status).toBe(403)
    expect((await reader.get(`${at}/complete`)).status).toBe(403)
    expect((await reader.get(`${at}/evidence`)).status).toBe(200)
  })

  test('accepts a file for a line without JavaScript, and says why it refuses one', async () => {
    const id = await lines(6)
    const visitor = await admin()
    const [, at = ''] =
      /href="(\/inbox\/reviews\/[^"]+\/file)"/.exec(
        (await visitor.get(`/inbox/reviews/${id}`)).text,
      ) ?? []
    const { text } = await visitor.get(at)
    expect(text).toContain('up to 720 kB')
    const [, proof = ''] = /name="form_token" value="([^"]*)"/.exec(text) ?? []
    const send = async (size: number, name = 'ticket.pdf', form_token = proof) => {
      const form = new FormData()
      form.set('form_token', form_token)
      form.set('file', new File([new Uint8Array(size)], name, { type: 'application/pdf' }))
      const withOwnKey = new Response(form)
      const raw = new Uint8Array(await withOwnKey.arrayBuffer())
      const headers = { 'content-type': withOwnKey.headers.get('content-type') ?? '' }
      return visitor.post(at, {}, { raw, headers })
    }
    expect((await send(10, 'x', 'another')).status).toBe(403)
    const empty = await send(0)
    expect([empty.status, empty.text]).toEqual([422, expect.stringContaining('Choose a file')])
    const large = await send(800_000)
    expect(large.text).toContain('The file has 800 kB; 720 kB is the most.')
    expect(large.text).toMatch(/id="file"[^>]*aria-invalid="true"/)
    const taken = await send(720_000, 'C:\\tickets\\one.pdf')
    expect([taken.status, taken.headers.get('location')]).toEqual([303, at])
    expect((await visitor.get(at)).text).toContain('The file is attached to the line.')
    const { body } = await core.call('GET', `/access_reviews/${id}/evidence/uploads`)
    expect(body.items).toMatchObject([
      {
        name: 'one.pdf',
        media_type: 'application/pdf',
        bytes: 720_000,
        item_ids: [at.split('/')[5]],
      },
    ])
    const other = await signedIn(core, ada.token)
    expect((await other.get(at)).status).toBe(404)
  })

  test('shows no lines to a person who reviews none of them', async () => {
    const id = await lines(1)
    const { text } = await (await signedIn(core, ada.token)).get(`/inbox/reviews/${id}`)
    expect(text).toContain('You review no lines here')
    expect(text).not.toContain('All your lines are decided')
    expect(text).not.toContain('name="item.0"')
  })
})

describe('a policy', () => {
  const PATH = '/console/policies/new'
  const typed = (more: Record<string, string> = {}) => ({
    ...{ name: 'Everybody at Example', why: 'They work here', state: 'in_force', who: 'all' },
    ...{ 'attribute.0': 'email', 'operator.0': 'ends_with', 'value.0': '@example.com' },
    ...{ 'give.0': appId, ...more },
  })

  test('is edited line by line, and keeps the entered values', async () => {
    const visitor = await admin()
    await visitor.get(PATH)
    const more = await visitor.post(PATH, { ...typed(), do: 'add' })
    expect(more.text).toContain('name="attribute.1"')
    expect(more.text).toContain('value="@example.com"')
    const less = await visitor.post(PATH, { ...typed(), do: 'drop.0' })
    expect(less.text).not.toContain('@example.com')
    const found = await visitor.post(PATH, { ...typed({ 'give.0': '' }), do: 'find', find: 'img' })
    expect(found.text).toContain(`value="${appId}"`)
    // The Enter key searches if the search text has changed; otherwise it shows who is affected.
    const nothing = { ...typed({ 'give.0': '' }), do: 'enter' }
    const searched = await visitor.post(PATH, { ...nothing, find: 'img', looked: '' })
    expect([searched.status, searched.text.includes('It was not saved')]).toEqual([200, false])
    expect(searched.text).toContain(`value="${appId}"`)
    expect(searched.text).toContain('name="looked" value="img"')
    const entered = await visitor.post(PATH, { ...nothing, find: 'img', looked: 'img' })
    expect([entered.status, entered.text.includes('It was not saved')]).toEqual([422, true])
    const wrong = await visitor.post(PATH, { ...typed({ name: '' }), do: 'save' })
    expect([wrong.status, wrong.text.includes('Give it a name')]).toEqual([422, true])
  })

  test('shows who is affected before it is saved, and again after a change', async () => {
    const visitor = await admin()
    await visitor.get(PATH)
    // Of many only the first twenty are shown.
    const unseen = await visitor.post(PATH, {
      ...typed({ 'value.0': 'da@example.com' }),
      do: 'save',
    })
    expect(unseen.text).toMatch(/\d+ more (person gets|people get) what it gives/)
    expect(unseen.text).toContain('ada@example.com')
    const other = await visitor.post(PATH, {
      ...typed({ 'value.0': 'ada@example.com' }),
      do: 'save',
    })
    expect(other.text).toContain('It fits 1 person')
    const saved = await visitor.post(PATH, {
      ...typed({ 'value.0': 'ada@example.com' }),
      do: 'save',
    })
    expect(saved.status).toBe(303)
    const page = await visitor.get(saved.headers.get('location') ?? '')
    expect(page.text).toContain('It is saved.')
    expect(page.text).toContain('In force')
    expect(page.text).toContain('<b>email</b> ends with <b>ada@example.com</b>')
    expect(page.text).not.toContain('&quot;attribute&quot;')
  })

  test('shows how many people a separation-of-duties rule denies some of the access', async () => {
    const visitor = await admin()
    const other = await company(core).inStore(await app(core.db, 'Ledger'))
    const side = (id: string) => ({ apps: [id], permissions: [] })
    const rule = await core.call('POST', '/separation_of_duties', {
      body: {
        name: 'One or the other',
        left: side(appId),
        right: side(other),
        on_request: 'BLOCK',
      },
    })
    expect(rule.status).toBe(201)
    await visitor.get(PATH)
    const of = (value: string) => ({ ...typed({ 'give.0': other, 'value.0': value }) })
    // Ada has requested one side.
    const denied = await visitor.post(PATH, of('ada@example.com'))
    expect(denied.text).toContain('1 more person gets what it gives')
    expect(denied.text).toContain('1 of them is denied some of it')
    const free = await visitor.post(PATH, of('admin@localhost'))
    expect(free.text).toContain('1 more person gets what it gives')
    expect(free.text).not.toContain('denied some of it')
    const both = await visitor.post(PATH, { ...of('admin@localhost'), 'give.1': appId })
    expect(both.text).toContain('1 of them is denied some of it')
    await core.call('DELETE', `/separation_of_duties/${rule.body.id}`)
  })

  test('says which attribute no person has, in the preview and on its page', async () => {
    const visitor = await admin()
    await visitor.get(PATH)
    const body = { ...typed({ name: 'Of groups', state: 'draft' }), who: 'any' }
    const asked = { ...body, 'attribute.1': 'groups', 'operator.1': 'contains', 'value.1': 'Staff' }
    const warning = 'No person has this attribute now: groups.'
    expect((await visitor.post(PATH, { ...body, do: 'preview' })).text).not.toContain(
      'No person has',
    )
    expect((await visitor.post(PATH, { ...asked, do: 'preview' })).text).toContain(warning)
    const saved = await visitor.post(PATH, { ...asked, do: 'save' })
    const at = saved.headers.get('location') ?? ''
    expect((await visitor.get(at)).text).toContain(warning)
    await visitor.get(`${at}/delete`)
    expect((await visitor.post(`${at}/delete`)).status).toBe(303)
  })

  test('is opened for editing, switched off and put in force again', async () => {
    const visitor = await admin()
    const { body } = await core.call('GET', '/access_policies')
    const at = `/console/policies/${body.items[0].id}`
    const shown = await visitor.get(`${at}/edit`)
    expect(shown.text).toContain('value="ada@example.com"')
    const off = await visitor.get(`${at}/disable`)
    expect(off.text).toContain('1 person no longer get')
    expect((await visitor.post(`${at}/disable`)).status).toBe(303)
    expect((await visitor.get(at)).text).toContain('It is switched off.')
    await visitor.get(`${at}/enable`)
    expect((await visitor.post(`${at}/enable`)).status).toBe(303)
    const log = await core.call(
      'GET',
      '/activity_logs?newest_first=true&event_type=ACCESS_POLICY_UPDATED',
    )
    expect(log.body.logs?.length ?? log.body.items?.length).toBeGreaterThan(1)
  })

  test('has no form for a person who may only read', async () => {
    const reader = await person(core.db, 'policies@example.com', ['Read Only Admin'])
    const visitor = await signedIn(core, reader.token)
    const list = await visitor.get('/console/policies')
    expect(list.text).not.toContain(PATH)
    expect((await visitor.get(PATH)).status).toBe(403)
    expect((await visitor.post(PATH, typed())).status).toBe(403)
  })
})

describe('the overview', () => {
  test('lists access that could not be removed, for a week or while removal is still attempted', async () => {
    const visitor = await admin()
    const failed = (days: number, todo: string | null) =>
      core.db.execute(sql`update access_requests set status = 'TIME_BASED_EXPIRED_FAILED', todo = ${todo},
        wake_at = null, updated_at = now() - make_interval(days => ${days}) where target_user_id = ${ada.id}`)
    const isNamed = async () =>
      (await visitor.get('/console')).text.includes('has ended and was not removed')
    await failed(6, null)
    expect(await isNamed()).toBe(true)
    await failed(8, null)
    expect(await isNamed()).toBe(false)
    await failed(8, 'remove')
    expect(await isNamed()).toBe(true)
  })
})

describe('a webhook', () => {
  const typed = {
    ...{ hook_type: 'SIEM', name: 'Our SIEM', description: '', url: 'https://siem.example/in' },
    headers: 'Authorization: Bearer sesame\nX-Team: access',
  }

  test('is created with its secret shown once; a refused form keeps the entered values', async () => {
    const visitor = await admin()
    const path = '/console/webhooks/new'
    expect((await visitor.get(path)).status).toBe(200)
    const wrong = await visitor.post(path, { ...typed, url: 'http://siem.example' })
    expect([wrong.status, wrong.text.includes('value="Our SIEM"')]).toEqual([422, true])
    const garbled = await visitor.post(path, { ...typed, headers: 'Bearer sesame' })
    expect(garbled.text).toContain('Line 1 of the headers is not of the form Name: value')
    const asked = await visitor.post(path, typed)
    expect(asked.text).toContain('is sent to https://siem.example')
    const done = await visitor.post(path, typed)
    expect(done.text).toMatch(/id="new-token"[^>]* value="whsec_/)
    const list = await visitor.get('/console/webhooks')
    expect(list.text).toContain('Our SIEM')
    expect(list.text).not.toContain('sesame')
  })

  test('is changed, tested, given a new secret and deleted', async () => {
    const visitor = await admin()
    const { body } = await core.call('GET', '/operator/webhooks')
    const at = `/console/webhooks/${body.items[0].id}`
    expect((await visitor.get(at)).text).toContain('authorization, x-team')
    const shown = await visitor.get(`${at}/change`)
    expect(shown.text).toContain('value="https://siem.example/in"')
    const rest = { name: 'The SIEM', description: '', url: 'https://siem.example/in' }
    const asked = await visitor.post(`${at}/change`, { ...rest, headers: 'X-Team:' })
    expect(asked.text).toContain('the header x-team is no longer sent')
    expect((await visitor.post(`${at}/change`, { ...rest, headers: 'X-Team:' })).status).toBe(303)
    expect((await visitor.get(at)).text).toContain('The SIEM')
    await visitor.get(`${at}/secret`)
    expect((await visitor.post(`${at}/secret`)).text).toContain('whsec_')
    await visitor.get(`${at}/test`)
    const tried = await visitor.post(`${at}/test`)
    expect([tried.status, tried.text.includes('was not answered correctly')]).toEqual([200, true])
    await visitor.get(`${at}/delete`)
    expect((await visitor.post(`${at}/delete`)).status).toBe(303)
    expect((await visitor.get(at)).status).toBe(404)
    const { text } = await visitor.get('/console/log')
    for (const event of ['CREATED', 'UPDATED', 'SECRET_RENEWED', 'DELETED'])
      expect(text).toContain(`INLINE_WEBHOOK_${event}`)
  })
})

describe('the upkeep', () => {
  const path = '/console/upkeep'

  test('reports what to do, and that mail cannot be sent', async () => {
    const visitor = await admin()
    const { text } = await visitor.get(path)
    expect(text).toContain('KEYWAY_MAIL_SERVER is not set')
    expect(text).toContain('Change of KEYWAY_SECRET')
    const tried = await visitor.post(`${path}/mail`, { email: 'a@example.com' })
    expect([tried.status, tried.text.includes('It was not sent')]).toEqual([409, true])
    await visitor.get('/settings/api-tokens')
    expect((await visitor.post(`${path}/end-tokens`)).status).toBe(303)
  })

  test('examines the host on request, and keeps the report with its time', async () => {
    const visitor = await admin()
    const retention = '<code class="nowrap">retention</code>'
    const before = await visitor.get(path)
    expect(before.text).toContain('Not examined yet')
    expect(before.text).not.toContain(retention)
    const done = await visitor.post(`${path}/examine`)
    expect([done.status, done.text.includes(retention)]).toEqual([200, true])
    const again = await visitor.get(path)
    expect(again.text).toContain(retention)
    expect(again.text).toContain('<time')
    const user = await signedIn(core, ada.token)
    await user.get('/access')
    expect((await user.post(`${path}/examine`)).status).toBe(403)
  })

  test('compares generations, and reports an unknown one', async () => {
    const visitor = await admin()
    const at = '/console/generations/compare'
    expect((await visitor.get(`${at}?from=0&to=1`)).text).toContain('From 0 to 1')
    const none = await visitor.get(`${at}?from=0&to=999999`)
    expect([none.status, none.text.includes('There is no such generation')]).toEqual([404, true])
    expect((await visitor.get(`${at}?from=x&to=`)).text).toContain('cannot be compared')
  })

  test('exports the data of a person, and erases a person without access', async () => {
    const visitor = await admin()
    const gone = await person(core.db, 'gone@example.com')
    const at = `/console/people/${gone.id}`
    expect((await visitor.get(at)).text).toContain('Record of the person')
    const file = await visitor.post(`${at}/export`)
    expect(file.headers.get('content-disposition')).toContain('attachment')
    expect(JSON.parse(file.text).person.email).toBe('gone@example.com')
    const early = await visitor.get(`${at}/erase`)
    expect([early.status, early.text.includes('cannot be erased yet')]).toEqual([409, true])
    await core.db.execute(sql`update users set status = 'INACTIVE' where id = ${gone.id}`)
    const asked = await visitor.get(`${at}/erase`)
    expect(asked.text).toContain('Erase this person?')
    expect(asked.text).toContain('stays: ')
    expect((await visitor.post(`${at}/erase`)).status).toBe(303)
    expect((await visitor.get(at)).text).not.toContain('gone@example.com')
  })
})

describe('the registry', () => {
  test('that is not configured is reported with advice', async () => {
    const { status, text } = await (await admin()).get('/console/registry')
    expect([status, text.includes('Set KEYWAY_REGISTRY')]).toEqual([200, true])
    expect(text).toContain('href="/docs/operate/registry"')
  })
})

describe('a SCIM token', () => {
  const path = '/console/scim-tokens'

  test('is created, shown once, accepted by the SCIM interface, and revoked', async () => {
    const visitor = await admin()
    expect((await visitor.get(path)).text).toMatch(/>http:\/\/[^/<]+\/scim\/v2</)
    const wrong = await visitor.post(path, { name: 'Entra', expires: '2001-01-01' })
    expect([wrong.status, wrong.text.includes('value="Entra"')]).toEqual([422, true])
    const made = await visitor.post(path, { name: 'Entra', expires: '' })
    const token = /id="new-token"[^>]* value="([^"]+)"/.exec(made.text)?.[1] ?? ''
    const asked = () =>
      core.host.app.request('/scim/v2/Users', {
        headers: { host: 'localhost', authorization: `Bearer ${token}` },
      })
    expect((await asked()).status).toBe(200)
    const list = await visitor.get(path)
    expect(list.text).toContain('Entra')
    expect(list.text).not.toContain(token)
    const [, end = ''] = /action="([^"]+\/end)"/.exec(list.text) ?? []
    expect((await visitor.post(end)).status).toBe(303)
    expect((await visitor.get(path)).text).toContain('The token is revoked.')
    expect((await asked()).status).toBe(401)
    const german = await visitor.get(path, { headers: { 'accept-language': 'de' } })
    expect(german.text).toContain('SCIM-Adresse')
  })

  test('can only be viewed by a person who may not create one', async () => {
    const reader = await person(core.db, 'scim@example.com', ['Read Only Admin'])
    const visitor = await signedIn(core, reader.token)
    const { status, text } = await visitor.get(path)
    expect([status, text.includes('name="expires"')]).toEqual([200, false])
    expect((await visitor.post(path, { name: 'Mine' })).status).toBe(403)
  })
})

describe('the settings', () => {
  test('are shown with the values in force, and secrets only as set', async () => {
    const { text } = await (await admin()).get('/console/settings')
    for (const name of keysOf(SETTINGS)) expect(text).toContain(`<code>${name}</code>`)
    expect(text).not.toContain(SECRET)
    const { body } = await core.call('GET', '/operator/settings')
    const named = (name: string) => body.items.find((one: { name: string }) => one.name === name)
    expect(named('KEYWAY_SECRET')).toMatchObject({ value: null, set: true, source: 'environment' })
    expect(named('KEYWAY_PROCESSES')).toMatchObject({ set: true, source: 'derived' })
    expect(named('KEYWAY_MAX_PAGES')).toMatchObject({ value: '100000', source: 'default' })
    expect(JSON.stringify(body)).not.toContain(SECRET)
  })
})

describe('the log', () => {
  /** The types of the entries that a page shows, each once. */
  const typesIn = (text: string) => [
    ...new Set([...text.matchAll(/<code>([A-Z_]+)<\/code>/g)].map(([, type]) => type)),
  ]

  test('is shown with the state of its hash chain, and filtered by event type', async () => {
    const visitor = await admin()
    const { text } = await visitor.get('/console/log')
    // The first entry has no predecessor, so the two numbers differ by one.
    expect(text).toMatch(/The newest \d+ entries each match the one before/)
    const found = await visitor.get('/console/log?event_type=user_login&since=2020-01-01')
    expect(typesIn(text).length).toBeGreaterThan(1)
    expect(typesIn(found.text)).toEqual(['USER_LOGIN'])
    expect((await visitor.get('/console/log?event_type=none')).text).toContain('Nothing found')
  })

  test('is filtered by actor and by target, with links from their pages', async () => {
    const visitor = await admin()
    const doer = await person(core.db, 'doer@example.com', ['Admin'])
    const done = await core.call('POST', `/users/${ada.id}/roles/Auditor`, { token: doer.token })
    expect(done.status).toBe(201)
    const path = /href="(\/console\/log\?actor=[^"]+)"/.exec(
      (await visitor.get(`/console/people/${doer.id}`)).text,
    )
    for (const at of [path?.[1] ?? '', '/console/log?actor=DOER@example.com']) {
      const { text } = await visitor.get(at)
      expect(text, at).toContain('<code>USER_ROLE_ADDED</code>')
      expect(text, at).not.toContain('<code>USER_LOGIN</code>')
      expect(text, at).toContain('<span class="count">1</span>')
    }
    for (const target of [ada.id, 'ada@example.com']) {
      const both = await visitor.get(`/console/log?target=${target}&actor=doer@example.com`)
      expect(both.text, target).toContain('<code>USER_ROLE_ADDED</code>')
    }
    const ofApp = await visitor.get(`/console/log?target=${appId}`)
    expect(ofApp.text).toContain(`value="${appId}"`)
    for (const nobody of ['actor=nobody@example.com', 'actor=x', 'target=nothing'])
      expect((await visitor.get(`/console/log?${nobody}`)).text, nobody).toContain('Nothing found')
    const { body } = await core.call('GET', `/activity_logs?actor=${doer.id}&limit=1`)
    expect([body.total, body.links.self.includes(`actor=${doer.id}`)]).toEqual([1, true])
    const odd = await core.call('GET', '/activity_logs?target=%5C%22&actor=%27')
    expect([odd.status, odd.body.total]).toEqual([200, 0])
  })
})

describe('the event stream of a page', () => {
  test('is sent only to signed-in people who may operate', async () => {
    const visitor = await admin()
    const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    await core.db.execute(sql`update sessions set used_at = now() - interval '10 minutes'`)
    const ending = new AbortController()
    const reply = await core.host.app.request(`/console/syncs/events?app_id=${appId}`, {
      headers: { host: 'localhost', cookie },
      signal: ending.signal,
    })
    expect(reply.headers.get('content-type')).toContain('text/event-stream')
    const reader = reply.body?.getReader()
    let text = ''
    while (!text.includes('event: list'))
      text += new TextDecoder().decode((await reader?.read())?.value)
    await reader?.cancel()
    ending.abort()
    const user = await signedIn(core, ada.token)
    expect((await user.get('/console/jobs/events')).status).toBe(403)
    expect((await visit(core).get('/console/jobs/events')).status).toBe(401)
  })
})

describe('a page that stays open', () => {
  test('cannot make a change after the role of the person was removed', async () => {
    const eve = await person(core.db, 'eve@example.com', ['Admin'])
    const visitor = await signedIn(core, eve.token)
    const path = '/console/connectors/slack/disable'
    expect((await visitor.get(path)).status).toBe(200)
    await core.db.execute(sql`delete from user_roles where user_id = ${eve.id}`)
    const { status, text } = await visitor.post(path, { reason: 'As I might a moment ago' })
    expect(status).toBe(403)
    expect(text).toContain('None of your roles opens this page')
    const { text: list } = await (await admin()).get('/console/generations')
    expect(list).not.toContain('As I might a moment ago')
  })
})

test('the admin of an app reads its findings, without links to pages of people', async () => {
  const owner = await person(core.db, 'tidy-owner@example.com', ['App Admin'])
  const { body } = await core.call('POST', '/apps', {
    body: { name: 'Tidy', category: 'Other', description: 'Tidies' },
  })
  const flow = { admins: { users: [{ email: 'tidy-owner@example.com' }] } }
  await core.call('PATCH', `/apps/${body.id}/settings`, { body: { request_flow: flow } })
  await withChecksPaused(core.db, `app ${body.id}`, async () => {
    await core.db.insert(findings).values({
      ...{ domainId: await domainOf(core.db), kind: 'DORMANT_PRIVILEGE', severity: 'HIGH' },
      ...{ subject: 'tidy', appId: body.id, userId: ada.id, details: {} },
    })
    const visitor = await signedIn(core, owner.token)
    const { text } = await visitor.get(`/console/apps/${body.id}`)
    expect(text).toContain('Privileged access unused for 90 days')
    expect(text).toContain('ada@example.com')
    expect(text).not.toContain('/console/people/')
    expect((await visitor.get(`/console/people/${ada.id}`)).status).toBe(403)
    await core.db.delete(findings)
  })
})
