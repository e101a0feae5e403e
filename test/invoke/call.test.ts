/** Calls of the core itself. Their replies are parsed in the host, so the host checks them itself. */
import { describe, expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { CORE_REPLY_LIMITS } from '../../runtime/contract/limits/reply-limits.ts'
import { FoundAccountData } from '../../runtime/contract/models/account.ts'
import { membersOf } from '../../runtime/contract/schema/record.ts'
import { createCall } from '../../runtime/invoke/call.ts'

const sent = {
  connectorId: 'acme',
  capability: 'list_accounts',
  body: { request: {} },
  requestId: 'r',
  cause: { kind: 'sync', id: 's' },
  appId: null,
  signal: new AbortController().signal,
} as const
const nothing = () => undefined
const answering = (text: string) =>
  createCall(async () => ({ body: Buffer.from(text), served: 'acme@1.0.0' }), nothing)(sent)

test('an answer is returned as parsed values', async () => {
  expect(
    await answering('{"response":[{"integration_specific_id":"a"}],"raw_data":null,"page":null}'),
  ).toEqual({
    ok: true,
    response: [{ integration_specific_id: 'a' }],
    page: null,
    raw: null,
    bytes: 74,
    callId: expect.stringMatching(/\.[0-9a-f]{8}$/),
  })
})

test('the worker gets the reply limits of the core', async () => {
  const asked: unknown[] = []
  await createCall(async ({ limits }) => {
    asked.push(limits)
    return { body: Buffer.from('{}'), served: '' }
  }, nothing)(sent)
  expect(asked).toEqual([CORE_REPLY_LIMITS])
})

test.each([
  ['many values', `{"response":[${Array(200_000).fill('{}').join()}]}`],
  // Not even JSON: it must be refused before parsing.
  ['many bytes', ' '.repeat(CORE_REPLY_LIMITS.maxBytes + 1)],
])('%s from a worker that ignores the limits are refused without parsing', async (_what, text) => {
  expect(await answering(text)).toMatchObject({
    ok: false,
    reason: 'reply_too_large',
    error: { error_code: 'invalid_response', message: expect.stringContaining('smaller pages') },
  })
})

describe('a page of a sync', () => {
  const listing = (response: unknown, isTable: boolean) =>
    createCall(
      async () => ({ body: Buffer.from(JSON.stringify({ response })), served: '', isTable }),
      nothing,
    )({ ...sent, asTable: true })
  const ada = { integration_specific_id: 'ada', email: 'ada@acme.example' }
  const table = { integration_specific_id: ['ada', 'ben'], user_status: ['ACTIVE', 0] }

  test('asks the worker only for the members that are read', async () => {
    const asked: unknown[] = []
    const call = createCall(async ({ columns }) => {
      asked.push(columns)
      return { body: Buffer.from(JSON.stringify({ response: table })), served: '', isTable: true }
    }, nothing)
    const read = ['integration_specific_id', 'user_status']
    for (const asTable of [read, true]) await call({ ...sent, asTable })
    expect(asked).toEqual([read, undefined])
  })

  test('is returned as a table, whether the worker wrote a table or rows', async () => {
    expect(await listing(table, true)).toMatchObject({
      response: {
        count: 2,
        columns: { integration_specific_id: ['ada', 'ben'], user_status: ['ACTIVE', 'ACTIVE'] },
      },
    })
    expect(await listing([ada, { integration_specific_id: 'ben' }], false)).toMatchObject({
      response: {
        count: 2,
        columns: { integration_specific_id: ['ada', 'ben'], email: [ada.email, undefined] },
      },
    })
    for (const [none, isTable] of [
      [[], false],
      [{}, true],
      [{ integration_specific_id: [], email: [] }, true],
    ] as const)
      expect(await listing(none, isTable)).toMatchObject({ ok: true, response: { count: 0 } })
  })

  // A column for each unknown name would have as many cells as there are rows.
  test('has only the columns of the contract, whatever the worker sends', async () => {
    const rows = Array.from({ length: 2000 }, (_, n) => ({ ...ada, [`m${n}`]: true }))
    const answer = await listing(rows, false)
    expect(
      Object.keys(membersOf(membersOf(answer.ok && answer.response)['columns'])).sort(),
    ).toEqual(Object.keys(FoundAccountData.entries).sort())
  })

  test.each<[string, unknown, boolean]>([
    ['no rows', null, false],
    ['a table that is announced as rows', table, false],
    ['rows that are announced as a table', [ada], true],
    ['no table', null, true],
    ['a row that is not an object', [ada, null], false],
    ['a row without an id', [ada, { email: 'b' }], false],
    ['a table without a column of ids', { email: ['a', 'b'] }, true],
    ['an id that is not text', { integration_specific_id: [['ada']] }, true],
    ['an id that is null', { integration_specific_id: [null] }, true],
    ['an address that is a list', [{ ...ada, email: ['ada'] }], false],
    ['an unknown status', [{ ...ada, user_status: '__proto__' }], false],
    ['attributes that are one long text', [{ ...ada, custom_attributes: 'x'.repeat(9999) }], false],
    ['an attribute that is a number', [{ ...ada, custom_attributes: { a: 1 } }], false],
    ['a member that the contract does not have', { ...table, constructor: ['a', 'b'] }, true],
  ])('%s is refused as reply_invalid', async (_what, response, isTable) => {
    expect(await listing(response, isTable)).toMatchObject({
      ...{ ok: false, reason: 'reply_invalid' },
      error: { message: expect.stringMatching(/^The reply (of list_accounts breaks|is no table)/) },
    })
  })
})

describe('an answer that is not a list', () => {
  const answered = (response: unknown, isTable = false) =>
    createCall(
      async () => ({ body: Buffer.from(JSON.stringify({ response })), served: '', isTable }),
      nothing,
    )({ ...sent, capability: 'validate_credentials' })

  test('is returned unchanged, including the connector’s own fields', async () => {
    const response = { valid: true, unique_tenant_id: 'acme', region: 'eu' }
    expect(await answered(response)).toMatchObject({ ok: true, response })
  })

  test.each<[string, unknown, boolean]>([
    ['no response', null, false],
    ['a list', [{ valid: true, unique_tenant_id: 'acme' }], false],
    ['a table', { valid: [true], unique_tenant_id: ['acme'] }, true],
    ['a response without a required member', { valid: true }, false],
    ['a response with a member of another type', { valid: 1, unique_tenant_id: 'acme' }, false],
  ])('%s is refused as reply_invalid', async (_what, response, isTable) => {
    expect(await answered(response, isTable)).toMatchObject({
      ...{ ok: false, reason: 'reply_invalid' },
      error: { message: expect.stringContaining('validate_credentials') },
    })
  })
})

test.each(['', 'null', '[]', '{"response":', '\u0000'])(
  'a reply that is %j is not valid',
  async (text) => {
    expect(await answering(text)).toMatchObject({ ok: false, reason: 'reply_invalid' })
  },
)

test('other errors keep their own reason', async () => {
  const call = createCall(() => Promise.reject(new RuntimeError('connector_threw', 'no')), nothing)
  expect(await call(sent)).toMatchObject({ ok: false, reason: 'connector_threw' })
})
