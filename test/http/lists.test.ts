/** Every page with no entries, with one entry, and with a thousand entries in its lists. */
import { sql } from 'drizzle-orm'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compose } from '../../runtime/core/mail/compose.ts'
import { named, quotable } from '../../runtime/core/mail/mail-names.ts'
import { CHANGES } from '../../runtime/http/console/table.ts'
import { LANGUAGE_NAMES, type Language } from '../../runtime/words/languages.ts'
import { app, type CoreHost, group, type Person, person, startCore } from '../core/host.ts'
import { company } from '../core/requests/company.ts'
import { CHROMIUM, startChromium } from '../e2e/chromium.ts'
import { pagePaths } from './page-paths.ts'
import { reviewWithLines } from './review-lines.ts'
import { signedIn, type Visitor } from './settings/visitor.ts'

/** Names that people and systems may have. */
const ODD = [
  'w'.repeat(200),
  '\u202eevil',
  '<script>x()</script>',
  'Jürgen 🧑‍🚀',
  '\u05e4\u05e7\u05e1',
  "O'Neil & Sons",
]
/** Maximum number of rows of one list on a page. */
const MAX_ROWS = 100
const MAX_BYTES = 600_000

let core: CoreHost
let ada: Person
beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '100000' })
  await core.host.settled
  ada = await person(core.db, 'ada@example.com')
})
afterAll(() => core.stop())

/** The text of a page, without attributes. */
const wordsOf = (text: string): string =>
  text
    .replace(/<(style|script|svg)[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

/** The faults of each page, as one visitor sees it. */
async function faultsOf(visitor: Visitor, paths: Iterable<[string, string]>): Promise<string[]> {
  const faults: string[] = []
  for (const [name, path] of paths) {
    const { status, text } = await visitor.get(path)
    const words = wordsOf(text)
    const rows = Math.max(0, ...text.split('</tbody>').map((one) => one.split('<tr').length - 1))
    const wrong = {
      status: status !== 200 && ![303, 403].includes(status) && status,
      words: /\b(?:undefined|NaN|\[object)\b/.exec(words)?.[0],
      plural: PLURAL_OF_ONE.exec(words)?.[0],
      markup: /<script>x|\u202e/.test(text),
      link: /<a [^>]*>[\s\u200b]*<\/a>/.exec(text)?.[0],
      rows: rows > MAX_ROWS && rows,
      bytes: text.length > MAX_BYTES && text.length,
    }
    for (const [what, is] of Object.entries(wrong))
      if (is) faults.push(`${name} (${path}), ${what}: ${is}`)
  }
  return faults
}

const NOUNS =
  'apps|permissions|people|requests|policies|reviews|lines|tasks|accounts|entries|groups|seats|days|hours|minutes|runs|calls|connectors|webhooks|tokens|licences|jobs'
/** The number one with a plural noun. */
const PLURAL_OF_ONE = new RegExp(`(?<![\\d.,:–-])\\b1 (?:${NOUNS})\\b`)

/** Inserts copies of the latest row, with other values in some columns. */
async function more(table: string, count: number, values: Record<string, string>): Promise<void> {
  const { rows } = await core.db.execute<{ name: string }>(sql`
    select quote_ident(column_name) as name from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER' and is_identity = 'NO'`)
  const names = rows.map(({ name }) => name)
  const members = Object.entries(values).map(([name, value]) => `'${name}', ${value}`)
  const odd = `(array[${ODD.map((one) => `'${one.replaceAll("'", "''")}'`).join(', ')}])[1 + n % ${ODD.length}]`
  const made = members.join(', ').replaceAll('ODD', odd)
  await core.db.execute(
    sql.raw(`
    insert into ${table} (${names.join(', ')})
    select ${names.map((name) => `(one.made).${name}`).join(', ')} from (
      select jsonb_populate_record(a, jsonb_build_object(${made})) as made
      from ${table} a, generate_series(1, ${count}) n
      where a.id = (select id from ${table} order by created_at desc limit 1)) one`),
  )
}

const NEW = 'gen_random_uuid()'

/** The pages of the existing entries, and the pages that confirm a change of them. */
async function known(appId: string, task: string, request: string) {
  const { rows } = await core.db.execute<Record<string, string>>(
    sql`select (select id from access_policies order by created_at limit 1) as policy,
      (select id from access_reviews limit 1) as review, (select id from inline_webhooks limit 1) as webhook,
      (select id from access_review_items limit 1) as line,
      (select id from requestable_permissions order by created_at limit 1) as permission`,
  )
  const [{ policy = '', review = '', webhook = '', line = '', permission = '' } = {}] = rows
  const ids = {
    ...{ user_id: ada.id, app_id: appId, task, one_request: request, webhook_id: webhook },
    ...{ access_policy_id: policy, connector_id: 'scim', app_class_id: 'scim' },
    ...{ access_review_id: review, item_id: line, permission_id: permission },
  }
  const paths = pagePaths(ids)
  // The request page takes its app from the query, and a custom app has no connection.
  paths.set('ask', `/access/request?app_id=${appId}`)
  paths.delete('reconnect')
  return { paths, changes: changesOf(ids) }
}

/** The longest name, without a place to break it, and with a right-to-left override. */
const LONG = `\u202e${'W'.repeat(199)}`
const LONG_EMAIL = `${'w'.repeat(60)}@${'x'.repeat(60)}.${'y'.repeat(60)}.example.com`

/** Opens everything that is folded: it is part of the page. */
const UNFOLD = `for (const one of document.querySelectorAll('details')) one.open = true
document.querySelector('dialog')?.show()`

/** The pages that scroll sideways on a phone. */
async function widePages(browser: Browser, visitor: Visitor, paths: Iterable<[string, string]>) {
  const wide: string[] = []
  const page = await browser.newPage({ viewport: { width: 375, height: 800 } })
  let shown = ''
  await page.route('**/*', async (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname === '/') return route.fulfill({ body: shown, contentType: 'text/html' })
    if (!pathname.startsWith('/assets/')) return route.abort()
    const { text, headers } = await visitor.get(pathname)
    return route.fulfill({ body: text, contentType: headers.get('content-type') ?? '' })
  })
  for (const [name, path] of paths) {
    const { status, text } = await visitor.get(path)
    if (status !== 200 || !text.startsWith('<!doctype html>')) continue
    shown = text
    await page.goto('http://keyway.test/')
    await page.evaluate(UNFOLD)
    const more = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    if (more > 0) wide.push(`${name} (${path}) by ${more}`)
    const folder = process.env['SHOTS']
    if (folder) await page.screenshot({ path: `${folder}/long-${name}.png`, fullPage: true })
  }
  await page.close()
  return wide
}

/** A mail in which every name has the maximum length. */
const longMail = (language: Language): string =>
  compose(
    [
      {
        ...{ text: 'asks', path: '/inbox/1' },
        matter: {
          ...{ thing: named(LONG), app: named(LONG), by: named(LONG), target: named(LONG) },
          revoker: named(LONG),
          ...{ note: quotable(LONG), seconds: 3600, until: null, count: null, now: new Date() },
        },
      },
    ],
    {
      ...{ to: LONG_EMAIL, name: named(LONG) ?? '', language, messageId: 'm@acme.example' },
      origin: 'https://keyway.acme.example',
    },
  ).html

/** Made by the tests before: the pages of a thousand entries, and their visitors. */
let prepared: { paths: Map<string, string>; visitors: readonly [Visitor, Visitor] } | null = null

/** The pages that confirm a change of the known entries. */
const changesOf = (known: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(CHANGES)
    .map(([name, { path }]): [string, string] => [
      name,
      path.replace(/:(\w+)/g, (whole, part: string) => known[part] ?? whole),
    ])
    .filter(([, path]) => !path.includes(':'))

describe('pages', () => {
  test('with empty lists say so, and have no faults', async () => {
    const paths = pagePaths({ user_id: ada.id, connector_id: 'scim', app_class_id: 'scim' })
    paths.delete('ask')
    expect(await faultsOf(await signedIn(core), paths)).toEqual([])
    expect(await faultsOf(await signedIn(core, ada.token), paths)).toEqual([])
    const empty = [
      '/console/requests',
      '/console/policies',
      '/console/reviews',
      '/console/webhooks',
    ]
    const visitor = await signedIn(core)
    for (const path of [...empty, '/console/apps', '/access', '/inbox'])
      expect((await visitor.get(path)).text, path).toContain('class="empty"')
  })

  test.each(['constructor', '__proto__', '1e308'])(
    'do not fail if the parameters of their addresses are %s',
    async (odd) => {
      const names = 'actor as_of before category event_type findings from have id known name'
      const more = 'name_search outdated page q query queue revoked search since sort state status'
      const asked = `${names} ${more} target task to until`.split(' ').map((one) => [one, odd])
      const visitor = await signedIn(core)
      const known = { user_id: ada.id, connector_id: 'scim', app_class_id: 'scim' }
      const statuses: [string, number][] = []
      for (const [name, path] of pagePaths(known))
        statuses.push([name, (await visitor.get(`${path}?${new URLSearchParams(asked)}`)).status])
      expect(statuses.length).toBeGreaterThan(30)
      expect(statuses.filter(([, status]) => status >= 500)).toEqual([])
    },
  )

  test('with one entry use the singular, and with a thousand entries show a part of them', async () => {
    const acme = company(core)
    const me = (await core.call('GET', '/users/current')).body
    const appId = await acme.inStore(await app(core.db, 'Only'), {
      approvers: { users: [{ id: me.id }] },
    })
    const permission = await acme.group(appId, 'one', 'Read')
    await group(core.db, 'Group', [ada])
    const request = await acme.asked(ada, {
      app_id: appId,
      requestable_permission_ids: [permission],
    })
    const task = (await acme.openTask(request)).id
    const policy = {
      ...{
        name: 'Everybody',
        business_justification: 'All',
        status: 'PUBLISHED',
        is_enabled: false,
      },
      ...{ is_everyone_condition: true, apps: [{ id: appId, is_preapproved: true }] },
    }
    const made = await core.call('POST', '/access_policies', { body: policy })
    expect(made.status, JSON.stringify(made.body)).toBeLessThan(300)
    await reviewWithLines(core, appId, 3, LONG)
    const hook = { hook_type: 'SIEM', name: 'Hook', url: 'https://siem.example/in' }
    expect((await core.call('POST', '/operator/webhooks', { body: hook })).status).toBeLessThan(300)
    await core.db.execute(sql`
      insert into accounts (domain_id, app_id, unique_identifier, email, user_id, status)
      select domain_id, id, 'u-1', 'ada@example.com', ${ada.id}, 'ACTIVE' from apps where id = ${appId}`)
    const { paths, changes } = await known(appId, task, request)
    expect([...paths.keys()]).toEqual(
      expect.arrayContaining(['task', 'one_request', 'policy', 'app']),
    )
    const visitors = [await signedIn(core), await signedIn(core, ada.token)] as const
    const look = async () => {
      const [operator, asker] = visitors
      expect(await faultsOf(operator, paths)).toEqual([])
      // The task and the line belong to the operator.
      const others = [...paths].filter(([name]) => name !== 'task' && name !== 'line_file')
      expect(await faultsOf(asker, others)).toEqual([])
    }
    await look()

    await more('users', 1000, {
      id: NEW,
      email: `'odd' || n || '@example.com'`,
      given_name: 'ODD',
      family_name: 'ODD',
    })
    await more('groups', 1000, { id: NEW, name: 'ODD', integration_specific_id: `'odd-' || n` })
    await more('requestable_permissions', 1000, {
      id: NEW,
      label: 'ODD',
      entitlement_id: `'odd-' || n`,
    })
    await more('access_requests', 1000, { id: NEW })
    await core.db.execute(sql`
      insert into tasks (id, domain_id, task_type, task_category, status, description, product_area, app_id,
        target_user_id, access_request_id)
      select gen_random_uuid(), domain_id, 'ACCESS_REQUEST_APPROVAL', 'APPROVAL', 'PENDING',
        repeat('w', 200) || chr(8238), 'APPSTORE', app_id, target_user_id, id from access_requests where id <> ${request}`)
    await core.db.execute(sql`
      insert into task_assignees (domain_id, task_id, user_id) select domain_id, id, ${me.id} from tasks where id <> ${task}`)
    await more('access_policies', 1000, { id: NEW, name: 'ODD' })
    await more('accounts', 1000, { id: NEW, unique_identifier: `'odd-' || n`, given_name: 'ODD' })
    await more('apps', 1000, {
      id: NEW,
      name: 'ODD',
      app_class_id: `'odd-' || n`,
      defaults: `jsonb_build_object('name', ODD)`,
      overrides: `'{}'::jsonb`,
    })
    await core.db.execute(sql`
      insert into app_store_settings (domain_id, app_id, in_app_store, discoverability)
      select domain_id, id, true, 'FULL' from apps where id <> ${appId}`)
    await look()
    prepared = { paths: new Map([...paths, ...changes]), visitors }
  }, 240_000)

  test.skipIf(CHROMIUM === null)(
    'are no wider than a phone, even with the longest names',
    async () => {
      if (prepared === null) throw new Error('the setup of the pages has failed')
      await core.db.execute(
        sql.raw(`
        update users set given_name = '${LONG}', family_name = '${LONG}', email = '${LONG_EMAIL}' where id = '${ada.id}';
        update apps set name = '${LONG}', overrides = jsonb_build_object('name', '${LONG}', 'description', '${LONG}');
        update groups set name = '${LONG}';
        update requestable_permissions set label = '${LONG}';
        update access_policies set name = '${LONG}', business_justification = '${LONG}';
        update inline_webhooks set name = '${LONG}';
        update accounts set unique_identifier = '${LONG}' || id, email = '${LONG_EMAIL}';
        insert into findings (domain_id, kind, severity, subject, app_id, user_id, details)
          select domain_id, 'DORMANT_PRIVILEGE', 'HIGH', 'long', app_id, '${ada.id}', jsonb_build_object('label', '${LONG}')
          from app_store_settings limit 1;
        update access_requests set notes = jsonb_build_object('PENDING', '${LONG}');
        update access_review_items set account = '${LONG}'`),
      )
      const browser = await startChromium()
      try {
        const [operator, asker] = prepared.visitors
        expect(await widePages(browser, operator, prepared.paths)).toEqual([])
        const own = [...prepared.paths].filter(([, path]) => /^\/(access|settings)/.test(path))
        expect(await widePages(browser, asker, own)).toEqual([])
        const page = await browser.newPage({ viewport: { width: 375, height: 800 } })
        for (const language of LANGUAGE_NAMES) {
          await page.setContent(longMail(language))
          const more = 'document.documentElement.scrollWidth - innerWidth'
          expect(Number(await page.evaluate(more)), language).toBeLessThanOrEqual(0)
        }
      } finally {
        await browser.close()
      }
    },
    240_000,
  )
})
