/** Erasing a person removes their data from every table, and the log still verifies. */
import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyActivity } from '../../../runtime/core/kernel/audit/chain.ts'
import { bodyOf } from '../../../runtime/core/kernel/audit/entry-hash.ts'
import { chainWaiting } from '../../../runtime/core/kernel/audit/unchained-entries.ts'
import { standingAlone } from '../../../runtime/core/personal-data/places.ts'
import {
  app,
  type CoreHost,
  domainOf,
  group,
  type Person,
  person,
  startCore,
  task,
} from '../host.ts'

const EMAIL = 'augusta.byron@analytical.example'
const SEARCHED = ['augusta', 'byron', 'lovelace-1815', 'analytical.example']

let core: CoreHost
let owner: Client
let domainId: string
let augusta: Person
let grace: Person
let appId: string

beforeAll(async () => {
  core = await startCore()
  owner = new Client(await core.login())
  await owner.connect()
  domainId = await domainOf(core.db)
  grace = await person(core.db, 'grace@navy.example', ['Admin'])
})
afterAll(async () => {
  await owner.end()
  await core.stop()
})

const erase = (email: string, more: object = {}) =>
  core.call('POST', '/operator/people/erase', { body: { email, ...more } })
const exported = (email: string) =>
  core.call('POST', '/operator/people/export', { body: { email } })

/** The content of every table of the host and of its jobs, as one text per table. */
async function dump(): Promise<Map<string, string>> {
  const { rows: tables } = await owner.query(`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') order by 1`)
  const texts = new Map<string, string>()
  for (const { name } of tables) {
    const { rows } = await owner.query(
      `select coalesce(string_agg(t::text, e'\\n'), '') as all from ${name} t`,
    )
    texts.set(name, rows[0].all.toLowerCase())
  }
  return texts
}

const found = async (): Promise<string[]> =>
  [...(await dump())].flatMap(([table, text]) =>
    SEARCHED.filter((word) => text.includes(word)).map((word) => `${word} in ${table}`),
  )

/** Creates a person with data in every place where a person leaves some. */
async function make(): Promise<void> {
  augusta = await person(core.db, EMAIL, ['Auditor'])
  const { id } = augusta
  await core.db.execute(sql`update users set given_name = 'Augusta', family_name = 'Byron',
    custom_attributes = '{"desk": {"type": "STRING", "value": "next to Byron"}}' where id = ${id}`)
  appId = await app(core.db, 'Engine')
  await group(core.db, 'Poets', [augusta])
  await core.db.execute(sql`insert into member_spans (domain_id, group_id, user_id, since)
    select domain_id, group_id, user_id, now() - interval '1 day' from group_members`)
  await core.db.execute(sql`
    with one as (insert into accounts (domain_id, app_id, unique_identifier, email, given_name, family_name, attributes, user_id, gone_at)
      values (${domainId}, ${appId}, 'lovelace-1815', 'Augusta.Byron@analytical.example', 'Augusta', 'Byron', '{"nick": "Augusta"}', ${id}, now()) returning *)
    insert into account_spans (domain_id, app_id, account_id, since, until, user_id, unique_identifier, account_type, email)
      select domain_id, app_id, id, now() - interval '1 day', now(), user_id, unique_identifier, account_type, email from one`)
  await core.db.execute(sql`insert into identity_events (domain_id, user_id, changed_field, old_value, new_value)
    values (${domainId}, ${id}, 'family_name', 'Byron', 'King')`)
  await core.db.execute(sql`
    insert into access_requests (domain_id, app_id, carried_app_id, requester_id, target_user_id, status, notes, plan)
    values (${domainId}, ${appId}, ${appId}, ${id}, ${id}, 'DENIED', '{"DENIED": "Byron needs it no more"}',
      '{"manager": false, "stages": [], "message": null, "validationWebhook": null}')`)
  await core.db.execute(sql`
    with review as (insert into access_reviews (domain_id, name, status, deadline_at)
      values (${domainId}, 'Engines', 'COMPLETED', now()) returning *),
    review_app as (insert into access_review_apps (domain_id, review_id, app_id, review_type, status)
      select domain_id, id, ${appId}, 'ACCOUNTS', 'COMPLETED' from review returning *)
    insert into access_review_items (domain_id, review_id, arda_id, app_id, account_id, account, account_type,
      account_email, user_id, user_email, user_name, state, reason)
    select review_app.domain_id, review_id, review_app.id, review_app.app_id, a.id, a.unique_identifier, 'USER',
      a.email, a.user_id, ${EMAIL}, 'Augusta Byron', 'KEPT', 'Byron needs it' from review_app, accounts a`)
  const mine = await task(core.db, { userIds: [grace.id] })
  await core.db.execute(sql`update tasks set target_user_id = ${id},
    description = 'Augusta asks for the Engine', instructions = 'ask Byron' where id = ${mine}`)
  // Decisions and comments add log entries by and about the person.
  await core.call('POST', `/tasks/${mine}/comments`, {
    token: grace.token,
    body: { comment: 'I know Augusta well' },
  })
  await core.call('POST', `/tasks/${mine}/perform-action`, {
    token: grace.token,
    body: { action_type: 'approve' },
  })
  const others = await task(core.db, { userIds: [augusta.id] })
  await core.call('POST', `/tasks/${others}/comments`, {
    token: augusta.token,
    body: { comment: `Signed\n${EMAIL}, Augusta` },
  })
  const decided = await core.call('POST', `/tasks/${others}/perform-action`, {
    token: augusta.token,
    body: { action_type: 'approve' },
  })
  expect(decided.status).toBe(204)
  const unrelated = await task(core.db, {})
  await core.db.execute(sql`update tasks set status = 'COMPLETED',
    description = ${`Sent by Augusta Byron <${EMAIL.toUpperCase()}>`} where id = ${unrelated}`)
  await core.call('POST', `/users/${id}/roles/App%20Admin`)
  await owner.query(
    `insert into generations (domain_id, number, user_id, "by", action, reason, connectors, publishers, difference)
     values ($1, -1, $2, $3, 'trust', 'Augusta Byron trusts it', '{}', '[]', '[]')`,
    [domainId, id, EMAIL],
  )
}

/** Log entries with names in clear: from an earlier version, and in texts that a person wrote. */
async function logInClear(): Promise<void> {
  const entry = { domainId, outcome: 'Succeeded' as const, targets: [], metadata: {} }
  const system = { actor_type: 'Lumos system', email: '', given_name: '', family_name: '' }
  const hers = {
    ...{ actor_type: 'Lumos user', email: EMAIL.toUpperCase() },
    ...{ given_name: 'Augusta', family_name: 'Byron' },
  }
  const target = { target_type: 'User', id: augusta.id, name: 'Augusta' }
  const metadata = { review: 'Access of "Augusta Byron", all of it', old: 'lovelace-1815' }
  const entries = [
    { ...entry, eventType: 'OLD_ACTED', actor: hers },
    { ...entry, eventType: 'OLD_TARGET', actor: system, targets: [target] },
    { ...entry, eventType: 'OLD_WORDS', actor: system, metadata },
    { ...entry, eventType: 'OLD_OTHER', actor: system, metadata: { of: 'Augustana' } },
  ]
  for (const one of entries)
    await core.db.execute(
      sql`insert into activity_waiting (domain_id, body) values (${domainId}, ${bodyOf(one)})`,
    )
  await chainWaiting(core.db, domainId)
}

const leave = async () => {
  await core.db.execute(sql`update users set status = 'INACTIVE' where id = ${augusta.id}`)
}

test('a person who still has access is not erased, and the refusal says what to do first', async () => {
  await make()
  await core.db.execute(sql`update accounts set gone_at = null where user_id = ${augusta.id}`)
  await core.db.execute(
    sql`update access_requests set status = 'PENDING_APPROVAL' where target_user_id = ${augusta.id}`,
  )
  await core.db.execute(sql`update access_review_apps set status = 'IN_PROGRESS'`)
  const { status, body } = await erase(EMAIL)
  await core.db.execute(sql`update access_review_apps set status = 'COMPLETED'`)
  expect(status).toBe(409)
  expect(JSON.stringify(body)).toMatch(
    /the user is ACTIVE: offboard.*access reviews are in progress: wait for the end of Engines.*1 access requests are not finished.*the person still has accounts in Engine: delete them/,
  )
  expect(JSON.stringify(body)).not.toContain('POST')
  await core.db.execute(sql`update accounts set gone_at = now() where user_id = ${augusta.id}`)
  await core.db.execute(
    sql`update access_requests set status = 'DENIED' where target_user_id = ${augusta.id}`,
  )
  expect((await erase(EMAIL)).status).toBe(409)
  expect((await erase('admin@localhost')).status).toBe(409)
  expect((await erase('nobody@analytical.example')).status).toBe(404)
})

test('an export contains all data of a person without secrets, and is logged', async () => {
  const { status, body } = await exported(EMAIL.toUpperCase())
  expect(status).toBe(200)
  expect(body).toMatchObject({ person: { id: augusta.id, email: EMAIL }, cut: [] })
  expect(Object.keys(body.tables).sort()).toEqual([
    ...[
      'access_requests',
      'access_review_items',
      'account_spans',
      'accounts',
      'activity_logs',
      'api_tokens',
    ],
    ...[
      'generations',
      'group_members',
      'identity_events',
      'member_spans',
      'task_assignees',
      'task_comments',
    ],
    ...['tasks', 'user_roles', 'users'],
  ])
  expect(JSON.stringify(body.tables.api_tokens)).not.toMatch(/hash|proof_key/)
  expect(body.tables.task_comments).toMatchObject([{ body: `Signed\n${EMAIL}, Augusta` }])
  const types = body.tables.activity_logs.map(
    ({ event_type }: { event_type: string }) => event_type,
  )
  expect(types).toEqual(['TASK_COMMENTED', 'TASK_ACTION_PERFORMED', 'USER_ROLE_ADDED'])
  const log = (await core.call('GET', '/activity_logs?limit=100')).body.items
  expect(log.at(-1)).toMatchObject({ event_type: 'PERSON_EXPORTED', targets: [{ id: augusta.id }] })
})

test('a dry run lists what would be erased and what is kept, and changes nothing', async () => {
  await leave()
  const before = await dump()
  const { status, body } = await erase(EMAIL, { dry_run: true })
  expect(status).toBe(200)
  expect(body).toMatchObject({ changed: false, person: { id: augusta.id, email: EMAIL } })
  const what = body.erased.map((one: { what: string }) => one.what)
  expect(what).toContain('comments of the person')
  expect(what).toContain('values of the activity log')
  expect(body.kept.length).toBeGreaterThan(2)
  const after = await dump()
  for (const table of [
    'public.users',
    'public.accounts',
    'public.tasks',
    'public.activity_personal',
  ])
    expect(after.get(table), table).toBe(before.get(table))
})

test('no table contains data of an erased person, and the log still verifies', async () => {
  await logInClear()
  const whole = await verifyActivity(core.db, domainId)
  expect(whole).toMatchObject({ broken: null })
  expect((await found()).length).toBeGreaterThan(8)
  const { status, body } = await erase(EMAIL)
  expect({ status, changed: body.changed }).toEqual({ status: 200, changed: true })
  expect(body.erased).toContainEqual({ what: 'names in clear in the activity log', count: 3 })
  // Augustana is a different name.
  expect(await found()).toEqual(['augusta in public.activity_logs'])
  const after = await verifyActivity(core.db, domainId, { find: whole.head })
  expect(after).toMatchObject({ broken: null, found: true, redacted: 3 })
  expect(after.erased).toBeGreaterThan(0)
  const { items } = (await core.call('GET', '/activity_logs?event_type=OLD_WORDS')).body
  expect(items).toMatchObject([{ event_metadata: { review: 'Access of "erased", all of it' } }])
})

test('names of other people and similar words are kept', async () => {
  const ada = await person(core.db, 'ada@x.example')
  const nada = await person(core.db, 'nada@x.example')
  const texts = [
    'to ada@x.example.',
    'to nada@x.example',
    'to ada@x.example.org',
    'Ada Testa',
    'ADA TEST!',
  ]
  for (const text of texts)
    await core.db.execute(
      sql`insert into tasks (domain_id, task_type, task_category, status, description)
        values (${domainId}, 'LOOKS_ALIKE', 'APPROVAL', 'COMPLETED', ${text})`,
    )
  await core.db.execute(sql`update users set status = 'INACTIVE' where id = ${ada.id}`)
  expect((await erase('ada@x.example')).status).toBe(200)
  const { rows } = await core.db.execute<{ description: string }>(
    sql`select description from tasks where task_type = 'LOOKS_ALIKE' order by created_at, id`,
  )
  expect(rows.map(({ description }) => description).sort()).toEqual(
    ['to erased.', 'to nada@x.example', 'to ada@x.example.org', 'Ada Testa', 'erased!'].sort(),
  )
  expect((await core.call('GET', `/users/${nada.id}`)).body.email).toBe('nada@x.example')
  expect((await core.call('GET', `/users/${ada.id}`)).body).toMatchObject({
    ...{ email: `erased-${ada.id}@erased.invalid`, given_name: '', family_name: '' },
  })
})

test('names in other letter cases and normal forms, and ids of accounts, are found in all texts', async () => {
  const rene = await person(core.db, 'rené.müller@x.example')
  const { id } = rene
  await core.db.execute(sql`update users set given_name = 'René', family_name = 'Müller',
    status = 'INACTIVE' where id = ${id}`)
  const inApp = await app(core.db, 'Loom')
  const { rows: made } = await core.db.execute<{ id: string }>(sql`
    insert into accounts (domain_id, app_id, unique_identifier, email, attributes, user_id, gone_at) values
      (${domainId}, ${inApp}, 'rmüller', 'rené@loom.example', '{"username": "weaver-rm"}', ${id}, now()),
      (${domainId}, ${inApp}, 'loom-77', null, '{}', ${id}, now()),
      (${domainId}, ${inApp}, 'weaver-old', 'renee@old.example', '{}', null, now())
    returning id`)
  const [, , former] = made.map((one) => one.id)
  await core.db.execute(sql`
    insert into account_spans (domain_id, app_id, account_id, since, until, user_id, unique_identifier, account_type, email)
    select domain_id, app_id, id, now() - interval '2 days', now() - interval '1 day', ${id},
      unique_identifier, account_type, email from accounts where id = ${former}`)
  await core.db.execute(sql`
    insert into account_spans (domain_id, app_id, account_id, since, until, user_id, unique_identifier, account_type, email)
    select domain_id, app_id, id, now() - interval '2 days', now() - interval '1 day', null,
      unique_identifier, account_type, 'before@loom.example' from accounts where unique_identifier = 'rmüller'`)
  const says = (form: 'NFC' | 'NFD') =>
    'RENÉ MÜLLER and rené müller, RENÉ.MÜLLER@x.example, RMÜLLER, before@loom.example'.normalize(
      form,
    )
  await core.db.execute(sql`insert into tasks
      (domain_id, task_type, task_category, status, description, instructions, target_user_id) values
    (${domainId}, 'FORMS', 'APPROVAL', 'COMPLETED', ${says('NFC')}, ${says('NFD')}, null),
    (${domainId}, 'FORMS', 'APPROVAL', 'COMPLETED', 'Weaver-RM', 'loom-77 and Weaver-old', ${id})`)
  const entry = { domainId, outcome: 'Succeeded' as const, targets: [] }
  const system = { actor_type: 'Lumos system', email: '', given_name: '', family_name: '' }
  const bodies = [
    { text: says('NFD'), old: 'x' },
    { account_id: made[1]?.id, account: 'LOOM-77' },
    { account_id: former, account: 'weaver-old' },
  ]
  for (const metadata of bodies)
    await core.db.execute(sql`insert into activity_waiting (domain_id, body) values (${domainId},
      ${bodyOf({ ...entry, eventType: 'FORMS_SAID', actor: system, metadata })})`)
  expect((await erase('rené.müller@x.example')).status).toBe(200)
  const all = [...(await dump())].map(([table, text]) => [table, text.normalize('NFC')] as const)
  const left = all.flatMap(([table, text]) =>
    ['rené', 'müller', 'loom-77', 'weaver-', 'loom.example', 'old.example', 'renee'].flatMap(
      (word) => (text.toLowerCase().includes(word) ? [`${word} in ${table}`] : []),
    ),
  )
  expect(left).toEqual([])
  expect(await verifyActivity(core.db, domainId)).toMatchObject({ broken: null })
})

test('the address of an erased person can be used by another person', async () => {
  const next = await person(core.db, EMAIL)
  expect((await exported(EMAIL)).body.person.id).toBe(next.id)
})

describe('a search for a name as a whole word', () => {
  test.each([
    ['ada@x.example', 'ada@x.example', true],
    ['<ada@x.example>', 'ada@x.example', true],
    ['"line\\nada@x.example"', 'ada@x.example', true],
    ['nada@x.example', 'ada@x.example', false],
    ['ada@x.example.org', 'ada@x.example', false],
    ['ada+1@x.example', 'ada@x.example', false],
    ['it is (ADA)', 'ada', true],
    ['adamant', 'ada', false],
    ['a.b', 'a+b', false],
    ['is a+b here', 'a+b', true],
    ['by JOSÉ MÜLLER', 'José Müller', true],
    ['by josé müller', 'JOSÉ MÜLLER', true],
    ['by José Müller'.normalize('NFD'), 'José Müller', true],
    ['by JOSÉ MÜLLER'.normalize('NFD'), 'José Müller', true],
    ['by José Müller', 'José Müller'.normalize('NFD'), true],
    ['to ÖZGÜR@x.example', 'özgür@x.example', true],
    ['AN GROSS', 'Groß', true],
    ['AN GROẞ', 'Groß', true],
    ['ΝΙΚΟΣ', 'Νικος', true],
    ['Νικος', 'ΝΙΚΟΣ', true],
    ['김민수'.normalize('NFD'), '김민수', true],
    ['René', 'Rene', false],
    ['René'.normalize('NFD'), 'Rene', false],
    ['Adaïr', 'Ada', false],
    ['Éada', 'ada', false],
    ['“Ada”', 'ada', true],
    ['É"A\\nÖ'.normalize('NFD'), 'é"a\\nö', true],
    [JSON.stringify('É"A\\nÖ'), 'é"a\\nö', true],
  ])('in %s for %s matches: %s', async (text, name, is) => {
    const { rows } = await owner.query('select $1 ~* $2 as is', [text, standingAlone(name)])
    expect(rows[0].is).toBe(is)
  })
})
