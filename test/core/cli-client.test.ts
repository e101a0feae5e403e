/**
 * Makes the calls of the public command-line client (core-interface.md, section 4) over HTTP to the sample
 * company: in its spelling, with its paging, and with the members that its models require.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'
import { eq } from 'drizzle-orm'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ensureSampleCompany } from '../../runtime/cli/sample-company.ts'
import { createTokenHasher } from '../../runtime/core/kernel/identity/token-hasher.ts'
import { createToken } from '../../runtime/core/kernel/identity/tokens.ts'
import { users } from '../../runtime/database/schema/people.ts'
import { COMPANY_SIZE } from '../../runtime/sample/company.ts'
import { people } from '../../runtime/sample/people.ts'
import { type Directory, startDirectory } from './directory.ts'
import { ADMIN_TOKEN, type CoreHost, SECRET, startCore } from './host.ts'

// The client's models, as strict as the client is; it ignores additional members.
const id = v.pipe(v.string(), v.uuid())
const User = v.object({
  id,
  given_name: v.string(),
  family_name: v.string(),
  email: v.string(),
})
const Group = v.object({
  id,
  name: v.string(),
  description: v.string(),
  app_id: v.string(),
  source_app_id: v.string(),
  integration_specific_id: v.string(),
})
const App = v.object({
  id,
  user_friendly_label: v.string(),
  app_class_id: v.string(),
  instance_id: v.string(),
})
const Settings = v.object({
  custom_request_instructions: v.string(),
  provisioning: v.object({
    groups_provisioning: v.picklist(['DIRECT_TO_USER', 'GROUPS_AND_HIDDEN', 'GROUPS_AND_VISIBLE']),
    time_based_access: v.optional(v.array(v.string())),
    allow_multiple_permission_selection: v.boolean(),
  }),
})
const Permission = v.object({
  id,
  label: v.string(),
  app_id: v.string(),
  app_class_id: v.string(),
  request_config: v.object({
    request_fulfillment_config: v.object({ time_based_access: v.array(v.string()) }),
  }),
})
const Paged = v.object({
  items: v.array(v.unknown()),
  total: v.pipe(v.number(), v.integer()),
  page: v.pipe(v.number(), v.integer()),
  pages: v.pipe(v.number(), v.integer()),
})

let directory: Directory
let core: CoreHost
let server: ServerType
let url: string

beforeAll(async () => {
  directory = await startDirectory()
  core = await startCore({ KEYWAY_PRIVATE_EGRESS: `scim=${directory.host}` })
  await core.host.settled
  const baseUrl = directory.app.settings.base_url
  await ensureSampleCompany(core.host, { baseUrl, signal: new AbortController().signal })
  server = serve({ fetch: core.host.app.fetch, hostname: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  await core.stop()
  await directory.close()
})

type Params = Record<string, string>

/** The client requires JSON in every 2xx reply but 204, and exits on any other status. */
async function get(endpoint: string, params: Params = {}, token = ADMIN_TOKEN): Promise<unknown> {
  const query = new URLSearchParams(params)
  const reply = await fetch(`${url}/${endpoint}?${query}`, {
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'user-agent': 'lumos-cli/2.1.2',
    },
  })
  // A higher major version in this header would make the client exit.
  expect(reply.headers.get('x-cli-version')).toBeNull()
  if (!reply.ok) throw new Error(`${reply.status}`)
  return reply.json()
}

/** Collects a list as the client does: until `page` equals `pages`, or `total` is 0. */
async function getAll<S extends v.GenericSchema>(
  model: S,
  endpoint: string,
  params: Params = {},
  { size = 100, token = ADMIN_TOKEN } = {},
): Promise<v.InferOutput<S>[]> {
  const all: v.InferOutput<S>[] = []
  for (let page = 1; page <= 50; page += 1) {
    const paging = { size: String(size), page: String(page) }
    const answer = v.parse(Paged, await get(endpoint, { ...params, ...paging }, token))
    expect(answer.page).toBe(page)
    if (answer.total === 0) return all
    all.push(...answer.items.map((item) => v.parse(model, item)))
    if (page === answer.pages) return all
  }
  throw new Error(`${endpoint} has more than 50 pages`)
}

const somebody = people()[0]?.email ?? ''

async function tokenOf(email: string): Promise<string> {
  const [user] = await core.db.select().from(users).where(eq(users.email, email))
  if (!user) throw new Error(`there is no user ${email}`)
  const { id: userId, domainId } = user
  const token = { userId, domainId, name: 'cli', description: '', readOnly: false, expiresAt: null }
  return (await createToken(core.db, createTokenHasher([SECRET]), token)).token
}

test('whoami', async () => {
  expect(v.parse(User, await get('users/current')).email).toBe('admin@localhost')
})

describe.each([100, 25, 10, 7, 1])('in pages of %s', (size) => {
  test('all users', async () => {
    const found = await getAll(User, 'users', {}, { size })
    expect(new Set(found.map((one) => one.id)).size).toBe(COMPANY_SIZE + 1)
    expect(found).toHaveLength(COMPANY_SIZE + 1)
  })

  test('all groups', async () => {
    const names = (await getAll(Group, 'groups', {}, { size })).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['All Staff', 'Design', 'On Call']))
    expect(new Set(names).size).toBe(names.length)
  })

  test('all apps of the store', async () => {
    const found = await getAll(App, 'appstore/apps', {}, { size })
    expect(found.map((one) => one.user_friendly_label)).toEqual(['Data Warehouse', 'Design Studio'])
  })
})

test('users, groups and apps are found by a part of their names', async () => {
  expect(await getAll(User, 'users', { search_term: somebody.slice(0, 5) })).toMatchObject([
    { email: somebody },
  ])
  expect(await getAll(Group, 'groups', { name: 'desi' })).toMatchObject([{ name: 'Design' }])
  expect(await getAll(App, 'appstore/apps', { name_search: 'studio' })).toMatchObject([
    { user_friendly_label: 'Design Studio' },
  ])
})

test.each([
  ['users', { search_term: 'no such person' }],
  ['groups', { name: 'no such group' }],
  ['groups', { app_id: '00000000-0000-4000-8000-000000000000' }],
  ['appstore/apps', { name_search: 'no such app' }],
])('an empty result of %s %o ends at the first page', async (endpoint, params) => {
  expect(await getAll(v.unknown(), endpoint, params as Params)).toEqual([])
  const answer = v.parse(Paged, await get(endpoint, { ...(params as Params), size: '100' }))
  expect(answer).toEqual({ items: [], total: 0, page: 1, pages: 0 })
})

describe('a user without roles', () => {
  let token: string
  beforeAll(async () => {
    const [person] = people().slice(8, COMPANY_SIZE)
    token = await tokenOf(person?.email ?? '')
  })

  test('reads the apps, their settings and their permissions', async () => {
    const found = await getAll(App, 'appstore/apps', {}, { token })
    expect(found).toHaveLength(2)
    for (const { id: app_id, app_class_id } of found) {
      const app = v.parse(App, await get(`appstore/apps/${app_id}`, {}, token))
      expect(app.app_class_id).toBe('scim')
      const settings = v.parse(Settings, await get(`appstore/apps/${app_id}/settings`, {}, token))
      expect(settings.provisioning.groups_provisioning).toBe('GROUPS_AND_VISIBLE')
      const query = { app_id, in_app_store: 'True' }
      const listed = await getAll(Permission, 'appstore/requestable_permissions', query, { token })
      expect(listed).toHaveLength(app.user_friendly_label === 'Design Studio' ? 3 : 2)
      for (const one of listed) {
        expect(one).toMatchObject({ app_id, app_class_id })
        const { time_based_access: lengths } = one.request_config.request_fulfillment_config
        expect(lengths.length).toBeGreaterThan(0)
        const path = `appstore/requestable_permissions/${one.id}`
        expect(v.parse(Permission, await get(path, {}, token))).toEqual(one)
      }
    }
  })

  test('finds permissions by a part of their label', async () => {
    const [app] = await getAll(App, 'appstore/apps', { name_search: 'Design' }, { token })
    const query = { app_id: app?.id ?? '', in_app_store: 'True', search_term: 'edit' }
    const found = await getAll(Permission, 'appstore/requestable_permissions', query, { token })
    expect(found.map(({ label }) => label)).toEqual(['Editor'])
  })
})

test('failures have the statuses that the client distinguishes: 401, 403 and 404', async () => {
  await expect(get('users/current', {}, 'lsk_nothing')).rejects.toThrow('401')
  await expect(get('users', {}, await tokenOf(people()[9]?.email ?? ''))).rejects.toThrow('403')
  await expect(get(`appstore/apps/${'0'.repeat(8)}`)).rejects.toThrow('404')
})
