/**
 * Tests the writers against an oracle: the plain schema applied to what JSON.stringify makes of the same
 * value. The outcomes must be equal. `FUZZ_RUNS` sets the number of runs.
 */
import fc from 'fast-check'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CAPABILITIES,
  type CapabilityName,
} from '../../runtime/contract/capabilities/capabilities.ts'
import { CORE_REPLY_LIMITS, type ReplyLimits } from '../../runtime/contract/limits/reply-limits.ts'
import { LISTED_STATUSES } from '../../runtime/contract/models/account.ts'
import { MAX_DEPTH } from '../../runtime/contract/schema/depth.ts'
import { rowsOfTable } from '../../runtime/contract/schema/table.ts'
import { readTable } from '../../runtime/protocol/tables.ts'
import { checkReply } from '../../runtime/worker/reply.ts'
import { createGuest, type Guest } from './guest/isolate.ts'
import { BUILD, type EncodedValue, hostileOf, replyOf } from './reply-values.ts'

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 2000)
const NAMES = Object.keys(CAPABILITIES) as CapabilityName[]

let guest: Guest

beforeAll(async () => {
  const handlers = NAMES.map((name) => `${name}: (told) => build(told.value)`).join(',')
  guest = await createGuest(`({ ${handlers} })`, BUILD)
})
afterAll(() => guest.dispose())

type Outcome = { refused: true } | { value: unknown; leftOut: number }

/** The outcome of a reply in the runtime, and whether the writers wrote it. */
async function outcomeOf(
  capability: CapabilityName,
  value: EncodedValue,
): Promise<[Outcome, boolean]> {
  const rows = await outcomeIn(capability, { request: { value } })
  const table = await outcomeIn(capability, { request: { value }, table: true }, CORE_REPLY_LIMITS)
  expect(table).toEqual(rows)
  return rows
}

async function outcomeIn(
  capability: CapabilityName,
  call: object,
  limits?: ReplyLimits,
): Promise<[Outcome, boolean]> {
  const parts = (await guest.start(capability, call)) as string[]
  const schema = CAPABILITIES[capability].output
  const expected = { schema, capability, wantRaw: false, written: true, limits }
  const { reply, body } = checkReply(parts, expected)
  const written = 'leftOut' in JSON.parse(parts[0] ?? '{}')
  if (!reply.ok) return [{ refused: true }, written]
  const response = JSON.parse(`${body}`)
  const value = reply.isTable
    ? rowsOfTable(readTable(response, CORE_REPLY_LIMITS.maxBytes))
    : response
  return [{ value, leftOut: reply.leftOut ?? 0 }, written]
}

/** The oracle. It shares nothing with the writers but the contract. */
async function expected(capability: CapabilityName, value: EncodedValue): Promise<Outcome> {
  const text = await guest.value(
    `stringified(JSON.parse(${JSON.stringify(JSON.stringify(value))}))`,
  )
  if (typeof text !== 'string') return { refused: true }
  const parsed = v.safeParse(CAPABILITIES[capability].output as v.GenericSchema, JSON.parse(text))
  if (!parsed.success) return { refused: true }
  if (capability !== 'list_accounts') return { value: parsed.output, leftOut: 0 }
  const all = parsed.output as { user_status: string | null }[]
  const listed = all.filter(
    ({ user_status }) =>
      user_status === null || (LISTED_STATUSES as readonly string[]).includes(user_status),
  )
  return { value: listed, leftOut: all.length - listed.length }
}

describe('the writers and the schema have the same outcome for', () => {
  test('valid replies of every capability, which are all written the fast way', async () => {
    const cases = fc.oneof(...NAMES.map((name) => fc.tuple(fc.constant(name), replyOf(name))))
    await fc.assert(
      fc.asyncProperty(cases, async ([name, value]) => {
        const [outcome, written] = await outcomeOf(name, value)
        expect(outcome).toEqual(await expected(name, value))
        // With more brackets than MAX_DEPTH, the nesting may be too deep, so the schema checks the reply.
        const brackets = JSON.stringify(value).match(/[[{]/g) ?? []
        if (brackets.length <= MAX_DEPTH) expect(written).toBe(true)
        expect(outcome).not.toHaveProperty('refused')
      }),
      { numRuns: RUNS },
    )
  })

  test('replies with getters, classes, holes, Proxies, toJSON or unknown members', async () => {
    const cases = fc.oneof(...NAMES.map((name) => fc.tuple(fc.constant(name), hostileOf(name))))
    const ways = { fast: 0, slow: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(cases, async ([name, value]) => {
        const [outcome, written] = await outcomeOf(name, value)
        expect(outcome).toEqual(await expected(name, value))
        ways['refused' in outcome ? 'refused' : written ? 'fast' : 'slow'] += 1
      }),
      { numRuns: RUNS },
    )
    // All three ways must have been taken, otherwise this test would prove little.
    expect(Math.min(...Object.values(ways))).toBeGreaterThan(RUNS / 100)
  })
})

test.each([
  ['as deep as allowed', 63, true],
  ['one level deeper', 64, false],
  ['a million levels deep', 1_000_000, false],
])('extra data nested %s: %s lists in an object', async (_name, levels, fits) => {
  const nested = await createGuest(
    `({ get_account(request) {
      let extra = []
      for (let i = 1; i < request.levels; i += 1) extra = [extra]
      return { integration_specific_id: 'a', extra_data: { extra } }
    } })`,
  )
  const parts = await nested.start('get_account', { request: { levels } })
  nested.dispose()
  const schema = CAPABILITIES.get_account.output
  const expected = { schema, capability: 'get_account', wantRaw: false, written: true }
  expect(checkReply(parts, expected).reply.ok).toBe(fits)
})

test('associations are written as a table only where the reader takes one', async () => {
  const held = (account_id: string) => ({
    account_id,
    integration_specific_entitlement_id: 'g',
    integration_specific_resource_id: '',
  })
  const value = [held('a'), held('b'), held('b')]
  const capability = 'find_entitlement_associations'
  const associations = await createGuest(`({ ${capability}: (request) => request.value })`)
  const written = async (call: object) =>
    (await associations.start(capability, { request: { value }, ...call })) as string[]
  const [head = '', table = ''] = await written({ table: true })
  expect(JSON.parse(table)).toEqual({
    account_id: ['a', 'b', 0],
    integration_specific_entitlement_id: ['g', 0, 0],
    integration_specific_resource_id: ['', 0, 0],
  })
  expect(JSON.parse((await written({}))[1] ?? '')).toEqual(value)
  const read = ['integration_specific_entitlement_id', 'account_id']
  expect(JSON.parse((await written({ table: read }))[1] ?? '')).toEqual({
    account_id: ['a', 'b', 0],
    integration_specific_entitlement_id: ['g', 0, 0],
  })
  associations.dispose()
  // A guest that sends a table to a reader that takes none is not believed.
  const schema = CAPABILITIES[capability].output
  const expected = { schema, capability, wantRaw: false, written: true }
  expect(checkReply([head, table, ''], expected).reply).not.toHaveProperty('isTable')
})

/** Requirements on a reply to a call of the core itself. */
const limitedReplyOf = (capability: CapabilityName) => ({
  ...{ schema: CAPABILITIES[capability].output, capability },
  ...{ wantRaw: false, written: true, limits: CORE_REPLY_LIMITS },
})

describe('values are counted while a reply is copied, and', () => {
  test.each<[string, EncodedValue[]]>([
    ['objects', Array.from({ length: 35_000 }, () => ({}))],
    ['texts', Array(70_000).fill('')],
  ])('too many %s in extra data are refused before the rest is read', async (_what, many) => {
    const capability = 'get_account'
    const large = await createGuest(
      `({ ${capability}({ many }) {
        const read = { get last() { globalThis.wasRead = true; return 'x' } }
        return { integration_specific_id: 'a', extra_data: { many, read } }
      } })`,
    )
    const wasRead = () => large.value('globalThis.wasRead === true')
    const expected = limitedReplyOf(capability)
    const { maxMarks } = CORE_REPLY_LIMITS
    const parts = await large.start(capability, { request: { many }, maxMarks })
    expect(await wasRead()).toBe(false)
    const whole = await large.start(capability, { request: { many } })
    expect(await wasRead()).toBe(true)
    large.dispose()
    const { reply } = checkReply(parts, expected)
    expect(reply).toMatchObject({ ok: false, refused: 'reply_too_large' })
    // A reply that is counted after it was written gets the same message.
    expect(reply).toEqual(checkReply(whole, expected).reply)
  })

  test('a reply is refused exactly if its JSON exceeds the limit, whatever is read of it', async () => {
    const cases = fc.oneof(
      ...NAMES.map((name) =>
        fc.tuple(fc.constant(name), fc.oneof(replyOf(name), hostileOf(name)), fc.nat(60)),
      ),
    )
    const ways = { early: 0, late: 0, fits: 0 }
    await fc.assert(
      fc.asyncProperty(cases, async ([name, value, maxMarks]) => {
        const limits = { ...CORE_REPLY_LIMITS, maxMarks }
        for (const table of [false, true, ['integration_specific_id', 'user_status']]) {
          const call = { request: { value }, table }
          const counted = { ...call, maxMarks }
          const [late] = await outcomeIn(name, call, limits)
          const [early, written] = await outcomeIn(name, counted, limits)
          expect(early).toEqual(late)
          const isEarly = 'refused' in early && !written
          ways[isEarly ? 'early' : 'refused' in early ? 'late' : 'fits'] += 1
        }
      }),
      { numRuns: RUNS },
    )
    expect(Math.min(...Object.values(ways))).toBeGreaterThan(RUNS / 100)
  })
})

test('members that are not read are validated too', async () => {
  const call = { request: { value: [{ integration_specific_id: 'a', extra_data: 'no object' }] } }
  const table = ['integration_specific_id']
  const told = await outcomeIn('list_accounts', { ...call, table }, CORE_REPLY_LIMITS)
  expect(told).toEqual([{ refused: true }, false])
})

test.each(['Array.prototype', 'Object.prototype'])(
  'a reply is unchanged when reading a row defines numeric properties on %s',
  async (prototype) => {
    const capability = 'find_entitlement_associations'
    const odd = await createGuest(`({ ${capability}: ({ number }) => {
      const row = { account_id: 'a', integration_specific_entitlement_id: 'g', integration_specific_resource_id: '' }
      const last = Object.defineProperty({ ...row }, 'account_id', { enumerable: true, get() {
        Object.defineProperty(${prototype}, number, { set() {}, get: () => 'lost', configurable: true })
        return 'b'
      } })
      return [row, last]
    } })`)
    const expected = limitedReplyOf(capability)
    for (const number of ['0', '1', '7']) {
      const parts = await odd.start(capability, { request: { number }, table: true })
      const { reply, body } = checkReply(parts, expected)
      expect(reply).toMatchObject({ ok: true })
      expect(reply).not.toHaveProperty('isTable')
      expect(JSON.parse(`${body}`)).toMatchObject([{ account_id: 'a' }, { account_id: 'b' }])
    }
    odd.dispose()
  },
)

describe('a guest that has changed the built-ins before it answers', () => {
  const whole = { integration_specific_id: 'a', extra_data: { b: ['c'] } }
  test.each<[string, boolean, unknown?]>([
    ["Object.prototype.email = 'inherited'", false],
    ["Object.defineProperty(Object.prototype, 'email', { value: 'inherited' })", false],
    ["Object.prototype.toJSON = () => 'no'", false, 'no'],
    ["String.prototype.toJSON = () => 'no'", true],
    ["JSON.stringify = () => 'no'; Array.isArray = () => false", true],
    ['String.prototype.indexOf = String.prototype.concat = () => { throw 1 }', true],
    ['Array.prototype[Symbol.iterator] = Object.keys = () => { throw 1 }', true],
    ["String.prototype.valueOf = String.prototype.toString = () => 'no'", true],
    ["Array.prototype.toJSON = () => 'no'", false, { ...whole, extra_data: { b: 'no' } }],
    ['Object.setPrototypeOf(Array.prototype, new Proxy({}, { set: () => true }))', false],
    ["Object.defineProperty(Array.prototype, '0', { set() {} })", false],
    ["Object.defineProperty(Object.prototype, '0', { set() {} })", false],
    ["Object.defineProperty(Object.prototype, 'b', { set() {} })", true],
    ["Object.defineProperty(Object.prototype, 'constructor', { set() {} })", true],
  ])('%s', async (code, fast, answered = whole) => {
    const odd = await createGuest(
      "({ get_account: () => ({ integration_specific_id: 'a', extra_data: { b: ['c'] } }) })",
      code,
    )
    const { head, response } = await odd.run('get_account')
    odd.dispose()
    expect('leftOut' in head).toBe(fast)
    // The writers fill in the members that are missing; otherwise the schema does, after the guest.
    if (fast) expect(response).toMatchObject(whole)
    else expect(response).toEqual(answered)
  })
})
