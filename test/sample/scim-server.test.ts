import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import connector from '../../plugins/scim/connector.ts'
import { people } from '../../runtime/sample/people.ts'
import { type SampleDirectory, startSampleDirectory } from '../../runtime/sample/scim-server.ts'
import { SAMPLE_TOKEN } from '../../runtime/sample/tenants.ts'
import { call, pagesOf } from '../sdk/call-handler.ts'

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

let sample: SampleDirectory
const tenant = () => ({ baseUrl: sample.baseUrl, token: SAMPLE_TOKEN })

beforeEach(async () => {
  sample = await startSampleDirectory({})
})
afterEach(() => sample.close())

test.each([[7], [100], [null]])('lists all 250 people once in pages of %s', async (size) => {
  const accounts = (await pagesOf(connector, tenant(), 'list_accounts', {}, size)).flat()
  expect(new Set(accounts.map((one) => one.integration_specific_id)).size).toBe(250)
  expect(accounts).toHaveLength(250)
  expect(accounts.filter((one) => one.user_status === 'SUSPENDED')).toHaveLength(10)
})

/** The ids of a SCIM page, and the other members of the answer. */
async function listed(query: string, path = '/Users') {
  const reply = await fetch(`${sample.baseUrl}${path}?${query}`, {
    headers: { authorization: `Bearer ${SAMPLE_TOKEN}` },
  })
  const { Resources, ...said } = (await reply.json()) as {
    Resources: { id: string }[]
    totalResults: number
    startIndex: number
    itemsPerPage: number
  }
  return { ids: Resources.map(({ id }) => id), ...said }
}
const NUMBERED = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => `u-${String(from + n).padStart(3, '0')}`)

test.each([
  ['', NUMBERED(1, 20)],
  ['count=0', []],
  ['count=3', NUMBERED(1, 3)],
  ['startIndex=4&count=3', NUMBERED(4, 6)],
  // Pages that do not start at a multiple of their size.
  ['startIndex=3&count=5', NUMBERED(3, 7)],
  ['startIndex=100&count=100', NUMBERED(100, 199)],
  ['startIndex=126&count=125', NUMBERED(126, 250)],
  ['startIndex=249&count=100', NUMBERED(249, 250)],
  ['startIndex=2&count=500', NUMBERED(2, 250)],
  ['startIndex=251&count=10', []],
])('returns the page %j with the total', async (query, ids) => {
  const asked = new URLSearchParams(query)
  expect(await listed(query)).toMatchObject({
    ids,
    totalResults: 250,
    startIndex: Number(asked.get('startIndex') ?? 1),
    itemsPerPage: Number(asked.get('count') ?? 20),
  })
})

test('sorts all people before it selects a page', async () => {
  const sorted = (order: string) =>
    listed(`sortBy=userName&sortOrder=${order}&startIndex=21&count=20`)
  const names = people().sort((a, b) => a.email.localeCompare(b.email))
  const idsOf = (some: typeof names) => some.slice(20, 40).map(({ id }) => id)
  expect((await sorted('ascending')).ids).toEqual(idsOf(names))
  expect((await sorted('descending')).ids).toEqual(idsOf(names.toReversed()))
})

test('has titles, departments and managers', async () => {
  const names = (await call(connector, tenant(), 'list_custom_attributes_schema', {})).map(
    (one) => one.name,
  )
  expect(names).toEqual(
    expect.arrayContaining(['title', `${ENTERPRISE}:department`, `${ENTERPRISE}:manager`]),
  )
  const request = { account_id: 'u-011', custom_attributes: ['title', 'department', 'manager'] }
  expect(await call(connector, tenant(), 'get_account', request)).toMatchObject({
    given_name: 'Daria',
    email: 'daria.ito@example.com',
    custom_attributes: { title: 'Sales Engineer', department: 'Sales', manager: 'u-003' },
  })
})

test('changes the department', async () => {
  const changes = { id: 'u-011', department: 'R&D' }
  expect(await call(connector, tenant(), 'update_account', changes)).toEqual(changes)
  const request = { account_id: 'u-011', custom_attributes: ['department', 'title'] }
  expect(await call(connector, tenant(), 'get_account', request)).toMatchObject({
    custom_attributes: { department: 'R&D', title: 'Sales Engineer' },
  })
})

test('has groups with members, and removes deleted people from them', async () => {
  const groups = (await pagesOf(connector, tenant(), 'list_entitlements', {}, 5)).flat()
  expect(groups).toHaveLength(12)
  const held = async () =>
    (await pagesOf(connector, tenant(), 'find_entitlement_associations', {}, 5))
      .flat()
      .filter((one) => one.account_id === 'u-001').length
  expect(await held()).toBe(3)
  await call(connector, tenant(), 'delete_account', { account_id: 'u-001' })
  expect(await held()).toBe(0)
})

test('creates an account with every field', async () => {
  const { id } = await call(connector, tenant(), 'create_account', {
    email: 'new@example.com',
    title: 'Guest',
    department: 'Visitors',
    user_status: 'SUSPENDED',
    entitlements: [],
  })
  const request = { account_id: String(id), custom_attributes: ['title', 'department'] }
  expect(await call(connector, tenant(), 'get_account', request)).toMatchObject({
    email: 'new@example.com',
    user_status: 'SUSPENDED',
    custom_attributes: { title: 'Guest', department: 'Visitors' },
  })
})

test('keeps two servers apart', async () => {
  const other = await startSampleDirectory({})
  await call(connector, tenant(), 'delete_account', { account_id: 'u-001' })
  const there = { baseUrl: other.baseUrl, token: SAMPLE_TOKEN }
  expect(await call(connector, there, 'get_account', { account_id: 'u-001' })).toMatchObject({
    given_name: 'Ada',
  })
  await other.close()
})

test.each([['Bearer wrong'], ['Basic c2FtcGxlLXRva2Vu'], [undefined]])(
  'answers 401 to the authorization %s',
  async (authorization) => {
    const reply = await fetch(`${sample.baseUrl}/Users`, {
      headers: authorization === undefined ? {} : { authorization },
    })
    expect(reply.status).toBe(401)
    expect(await reply.json()).toMatchObject({ status: '401' })
  },
)

test('listens on loopback only', async () => {
  await expect(startSampleDirectory({ host: '0.0.0.0' })).rejects.toThrow(/loopback only/)
})

test('refuses a port that is in use', async () => {
  const port = Number(new URL(sample.baseUrl).port)
  await expect(startSampleDirectory({ port })).rejects.toThrow(/EADDRINUSE/)
})

test('runs as a separate program, and prints its address', async () => {
  const file = join(import.meta.dirname, '../../runtime/sample/scim-server.ts')
  const child = spawn(process.execPath, [file, '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  const { baseUrl, token } = JSON.parse(String(line))
  expect(await call(connector, { baseUrl, token }, 'validate_credentials', {})).toMatchObject({
    valid: true,
  })
  child.kill()
  await once(child, 'exit')
})
