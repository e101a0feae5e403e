/** Every page for people with nothing, with one, and with a thousand of everything in its lists. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { app, type CoreHost, group, type Person, person, startCore } from '../core/host.ts'
import { company } from '../core/requests/company.ts'
import { pagePaths } from './page-paths.ts'
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
/** Most rows that a page has of one list. */
const MOST_ROWS = 100
const MOST_BYTES = 600_000

let core: CoreHost
let ada: Person
beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '100000' })
  await core.host.settled
  ada = await person(core.db, 'ada@example.com')
})
afterAll(() => core.stop())

/** The words of a page, without what is folded into attributes. */
const wordsOf = (text: string): string =>
  text
    .replace(/<(style|script|svg)[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

/** What is wrong with each page, as one visitor sees it. */
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
      rows: rows > MOST_ROWS && rows,
      bytes: text.length > MOST_BYTES && text.length,
    }
    for (const [what, is] of Object.entries(wrong))
      if (is) faults.push(`${name} (${path}), ${what}: ${is}`)
  }
  return faults
}

const NOUNS =
  'apps|permissions|people|requests|policies|reviews|lines|tasks|accounts|entries|groups|seats|days|hours|minutes|runs|calls|connectors|webhooks|tokens|licences|jobs'
/** One of something, in the words of several. */
const PLURAL_OF_ONE = new RegExp(`(?<![\\d.,:–-])\\b1 (?:${NOUNS})\\b`)

/** Rows like the one that is there, with other values in some columns. */
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

async function known(appId: string, task: string, request: string): Promise<Map<string, string>> {
  const { rows } = await core.db.execute<{ id: string }>(
    sql`select id from access_policies order by created_at limit 1`,
  )
  const paths = pagePaths({
    ...{ user_id: ada.id, app_id: appId, task, one_request: request },
    ...{ access_policy_id: rows[0]?.id ?? '', connector_id: 'scim', app_class_id: 'scim' },
  })
  // What is asked for is in its query, and nothing connects a custom app.
  paths.set('ask', `/access/request?app_id=${appId}`)
  paths.delete('reconnect')
  return paths
}

describe('pages', () => {
  test('with nothing in their lists say so, and are whole', async () => {
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

  test('with one in their lists speak of one, and with a thousand show a part', async () => {
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
    const hook = { hook_type: 'SIEM', name: 'Hook', url: 'https://siem.example/in' }
    expect((await core.call('POST', '/operator/webhooks', { body: hook })).status).toBeLessThan(300)
    await core.db.execute(sql`
      insert into accounts (domain_id, app_id, unique_identifier, email, user_id, status)
      select domain_id, id, 'u-1', 'ada@example.com', ${ada.id}, 'ACTIVE' from apps where id = ${appId}`)
    const paths = await known(appId, task, request)
    expect([...paths.keys()]).toEqual(
      expect.arrayContaining(['task', 'one_request', 'policy', 'app']),
    )
    const visitors = [await signedIn(core), await signedIn(core, ada.token)] as const
    const look = async () => {
      const [operator, asker] = visitors
      expect(await faultsOf(operator, paths)).toEqual([])
      // The task is another's.
      const others = [...paths].filter(([name]) => name !== 'task')
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
  }, 240_000)
})
