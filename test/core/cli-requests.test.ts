/**
 * Makes the access request calls of the public command-line client (core-interface.md, section 4) over HTTP:
 * creating, polling, listing and cancelling, in its spelling and as strict as its models.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'
import { sql } from 'drizzle-orm'
import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { users } from '../../runtime/database/schema/people.ts'
import {
  ADMIN_TOKEN,
  app,
  type CoreHost,
  domainOf,
  type Person,
  person,
  startCore,
} from './host.ts'
import { type Company, company } from './requests/company.ts'

/** Section 3, "Nulls": these keys are required; those that may be null are marked as nullable. */
const id = v.pipe(v.string(), v.uuid())
/** The client accepts only this format. */
const moment = v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/))
const User = v.object({ id, given_name: v.string(), family_name: v.string(), email: v.string() })
const Request = v.object({
  id,
  app_id: v.string(),
  app_name: v.string(),
  status: v.string(),
  requested_at: moment,
  expires_at: v.nullable(moment),
  requester_user: User,
  target_user: User,
  supporter_user: v.nullable(User),
  requestable_permissions: v.array(
    v.object({ id, label: v.string(), app_id: v.string(), app_class_id: v.string() }),
  ),
})
const Paged = v.object({
  items: v.array(Request),
  total: v.number(),
  page: v.number(),
  pages: v.number(),
})
/** The part of a refusal that the client prints. */
const Refusal = v.object({
  detail: v.union([
    v.pipe(v.string(), v.nonEmpty()),
    v.pipe(
      v.array(
        v.object({
          loc: v.array(v.union([v.string(), v.number()])),
          msg: v.pipe(v.string(), v.nonEmpty()),
          type: v.string(),
        }),
      ),
      v.nonEmpty(),
    ),
  ]),
})

/** The statuses in which the client continues polling. */
const PENDING = [
  'PENDING',
  'PENDING_MANAGER_APPROVAL',
  'PENDING_MANUAL_PROVISIONING',
  'PENDING_APPROVAL',
  'PENDING_PROVISIONING',
]

let core: CoreHost
let acme: Company
let server: ServerType
let url: string
let ada: Person
let bob: Person
let appId: string
let permission: string

beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '100000' })
  acme = company(core)
  server = serve({ fetch: core.host.app.fetch, hostname: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  ada = await person(core.db, 'ada@acme.example')
  bob = await person(core.db, 'bob@acme.example')
  appId = await acme.inStore(await app(core.db, 'Wiki'))
  permission = await acme.synced(appId, 'Editor', {
    entitlementType: null as never,
    entitlementId: null as never,
    resourceType: '',
    resourceId: '',
  })
})
afterAll(async () => {
  server.close()
  await core.stop()
})

type Query = [string, string][]

async function send(
  method: string,
  endpoint: string,
  {
    token = ada.token,
    query = [],
    body,
  }: { token?: string | null; query?: Query; body?: object } = {},
) {
  const reply = await fetch(`${url}/${endpoint}?${new URLSearchParams(query)}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'lumos-cli/2.1.2',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(reply.headers.get('x-cli-version')).toBeNull()
  // Any reply but 204 must be JSON.
  const answer: unknown = reply.status === 204 ? await reply.text() : await reply.json()
  return { status: reply.status, answer }
}

/** Creates a request as the client does: with the reason in `note`, reading only the first item. */
async function ask(body: object, token = ada.token) {
  const { status, answer } = await send('POST', 'appstore/access_request', {
    token,
    body: { app_id: appId, note: 'For the launch', ...body },
  })
  expect(status).toBe(201)
  const [first] = v.parse(v.array(Request), answer)
  return v.parse(Request, first)
}

async function list(query: Query) {
  const paging: Query = [
    ['page', '1'],
    ['size', '100'],
  ]
  const { status, answer } = await send('GET', 'appstore/access_requests', {
    query: [...query, ...paging],
  })
  expect(status).toBe(200)
  return v.parse(Paged, answer).items
}

async function pollUntilDone(requestId: string) {
  for (;;) {
    const { answer } = await send('GET', `appstore/access_requests/${requestId}`)
    const request = v.parse(Request, answer)
    if (!PENDING.includes(request.status)) return request
    // Complete the task that the client is waiting for.
    await acme.settle(requestId, 'complete')
  }
}

test('creates a request with a reason and a length, and polls until it is completed', async () => {
  const made = await ask({ requestable_permission_ids: [permission], expiration_in_seconds: 3600 })
  expect(made).toMatchObject({
    app_id: appId,
    app_name: 'Wiki',
    expires_at: null,
    supporter_user: null,
    target_user: { email: 'ada@acme.example' },
    requester_user: { email: 'ada@acme.example' },
    requestable_permissions: [{ id: permission, label: 'Editor', app_id: appId }],
  })
  const read = await acme.read(made.id)
  expect(read).toMatchObject({ notes: { PENDING: 'For the launch' }, expiration_in_seconds: 3600 })
  const done = await pollUntilDone(made.id)
  expect(done.status).toBe('COMPLETED')
  const seconds = (Date.parse(`${done.expires_at}Z`) - Date.now()) / 1000
  expect(seconds).toBeGreaterThan(3500)
  expect(seconds).toBeLessThanOrEqual(3600)
})

test('lists newest first with a lowercase “desc”, and filters by repeated statuses', async () => {
  const mine: Query = [['target_user_id', ada.id]]
  const older = await ask({})
  const newer = await ask({})
  const newest = await list([...mine, ['sort', 'desc']])
  expect(newest.slice(0, 2).map((one) => one.id)).toEqual([newer.id, older.id])
  expect((await list(mine)).at(-1)?.id).toBe(newer.id)
  const pending = await list([
    ...mine,
    ...PENDING.map((one): [string, string] => ['statuses', one]),
  ])
  expect(pending.map((one) => one.id).sort()).toEqual([older.id, newer.id].sort())
  const both = await list([...mine, ['statuses', 'COMPLETED'], ['statuses', 'PENDING_APPROVAL']])
  expect(new Set(both.map(({ status }) => status))).toEqual(
    new Set(['COMPLETED', 'PENDING_APPROVAL']),
  )
})

test('cancels a request with a reason, and only once', async () => {
  const { id: requestId } = await ask({})
  const cancel = () =>
    send('DELETE', `appstore/access_requests/${requestId}`, {
      query: [['reason', 'Not any more']],
    })
  expect(await cancel()).toEqual({ status: 204, answer: '' })
  expect(await acme.read(requestId)).toMatchObject({
    status: 'CANCELLED',
    notes: { CANCELLED: 'Not any more' },
  })
  const again = await cancel()
  expect(again.status).toBe(409)
  expect(v.parse(Refusal, again.answer).detail).toMatch(/CANCELLED/)
})

test('a person without names has empty strings as names, never null', async () => {
  const domainId = await domainOf(core.db)
  const [nameless] = await core.db
    .insert(users)
    .values({ domainId, email: 'nameless@acme.example' })
    .returning()
  const made = await ask({ target_user_id: nameless?.id })
  expect(made.target_user).toMatchObject({ given_name: '', family_name: '' })
})

test('a request without a requester lists its target user as the requester', async () => {
  const { id: requestId } = await ask({})
  await core.db.execute(sql`update access_requests set requester_id = null where id = ${requestId}`)
  const [first] = await list([['sort', 'desc']])
  expect(first).toMatchObject({ id: requestId, requester_user: { id: ada.id } })
})

test('each refusal has a `detail` that can be printed', async () => {
  const { id: requestId } = await ask({})
  const one = `appstore/access_requests/${requestId}`
  const nothing = '00000000-0000-4000-8000-000000000000'
  const asked = (body: object, token?: string | null) =>
    send('POST', 'appstore/access_request', { body, ...(token === undefined ? {} : { token }) })
  const refused = async (reply: Promise<{ status: number; answer: unknown }>) => {
    const { status, answer } = await reply
    return [status, typeof v.parse(Refusal, answer).detail]
  }
  const by = (token: string | null) => ({ token })
  expect(await refused(send('GET', one, by(null)))).toEqual([401, 'string'])
  expect(await refused(send('GET', one, by('lsk_nothing')))).toEqual([401, 'string'])
  expect(await refused(asked({ app_id: appId, note: '' }, null))).toEqual([401, 'string'])
  // Another person's request is not visible, so it is not found.
  expect(await refused(send('GET', one, by(bob.token)))).toEqual([404, 'string'])
  expect(await refused(send('DELETE', one, by(bob.token)))).toEqual([404, 'string'])
  expect(await refused(send('GET', `appstore/access_requests/${nothing}`))).toEqual([404, 'string'])
  expect(await refused(send('GET', 'appstore/access_requests/nothing'))).toEqual([404, 'string'])
  const query: Query = [['requester_user_id', ada.id]]
  expect(
    await refused(send('GET', 'appstore/access_requests', { query, ...by(bob.token) })),
  ).toEqual([403, 'string'])
  const forAda = { app_id: appId, note: '', requester_user_id: ada.id }
  expect(await refused(asked(forAda, bob.token))).toEqual([403, 'string'])
  expect(await refused(asked({}))).toEqual([422, 'object'])
  expect(await refused(asked({ app_id: appId, expiration_in_seconds: 'soon' }))).toEqual([
    422,
    'object',
  ])
  expect(await refused(asked({ app_id: nothing }))).toEqual([422, 'object'])
  expect(await refused(asked({ app_id: appId, requestable_permission_ids: [nothing] }))).toEqual([
    422,
    'object',
  ])
  const odd: Query = [['statuses', 'NEARLY_THERE']]
  expect(await refused(send('GET', 'appstore/access_requests', { query: odd }))).toEqual([
    422,
    'object',
  ])
  expect((await send('DELETE', one, by(ADMIN_TOKEN))).status).toBe(204)
  expect(await refused(send('DELETE', one))).toEqual([409, 'string'])
})
