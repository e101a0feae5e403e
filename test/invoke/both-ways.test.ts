/** Runs the same cases through the general and the fast path: both answer, fail, log and report alike. */
import * as v from 'valibot'
import { describe, expect, test, vi } from 'vitest'
import { createVersion } from '../../runtime/connectors/registry/version.ts'
import { Manifest } from '../../runtime/contract/connector/manifest.ts'
import type { UpstreamRecord } from '../../runtime/contract/connector/upstream-record.ts'
import { errorBody } from '../../runtime/contract/envelope/envelope.ts'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { CEILINGS } from '../../runtime/contract/limits/ceilings.ts'
import { mapValues } from '../../runtime/contract/schema/keys.ts'
import { createCaller, type HttpCaller } from '../../runtime/http/edge/caller.ts'
import { createConcurrencyLimit } from '../../runtime/invoke/concurrency.ts'
import { createInvoke } from '../../runtime/invoke/invoke.ts'
import { createPageTokens } from '../../runtime/invoke/page-token.ts'
import type { InvokeDeps, ServedVersion } from '../../runtime/invoke/ports.ts'
import { createStart } from '../../runtime/invoke/start.ts'
import type { Done, LaneCall, LaneReply } from '../../runtime/protocol/lane-call.ts'
import { manifestOf } from '../connectors/registry/fixtures/folders.ts'

type Way = 'general' | 'fast'
const WAYS: readonly Way[] = ['general', 'fast']

const SECRET = 'the-secret-token'
const AUTH = { token: { token: SECRET } }
const SETTINGS = { zone: { type: 'integer' } }
const ceilings = { ...mapValues(CEILINGS, (row) => row.default), maxPages: 1000 }

const versionOf = (number: string, changes: object = {}): ServedVersion => {
  const capabilities = { list_accounts: {}, get_account: {}, create_account: {} }
  const manifest = v.parse(
    Manifest,
    manifestOf({ version: number, capabilities, settings: SETTINGS, ...changes }),
  )
  return createVersion(manifest, `digest-of-${number}`, 'stranger', async () => 'the code')
}

const reply = (changes: object = {}, body = '[]{"raw":1}'): LaneReply => ({
  reply: { ok: true, cursorJson: 'null', responseBytes: 2, ...changes },
  body: Buffer.from(body),
  isEnvelope: false,
  fetchError: null,
})

const thrown = (changes: object = {}, body = ''): LaneReply => ({
  reply: {
    ok: false,
    error: {
      code: 'unexpected_error',
      message: `it said ${SECRET}`,
      app_error_code: null,
      status_code: null,
      raised_by: 'TypeError',
      at: [{ line: 7, column: 3 }],
      ...changes,
    },
  },
  body: Buffer.from(body),
  isEnvelope: false,
  fetchError: null,
})

const RECORD: UpstreamRecord = {
  ...{ method: 'GET', host: 'api.acme.example', path: '/', query: '', status: 429, error: null },
  ...{ sent: true, askedUntilMs: 0, sentBytes: 0, receivedBytes: 0, beganAtMs: 0, ms: 1 },
}

/** The members of a record that differ while its request has no answer. */
const OPEN = {
  ...{ method: 'QUERY', host: 'db.acme.example:5432', path: '/people', status: null },
  text: 'select id from people',
}

/** The behaviour of a lane; it may change `world` while the call runs. */
type Lane = (call: LaneCall, world: World) => Promise<LaneReply>
type World = { current: ServedVersion | null; ending: ServedVersion | null; caller: HttpCaller }

type Case = {
  name: string
  /** The text of the body, or changes to the default body. */
  body?: string | object
  capability?: string
  id?: string
  lane?: Lane
  served?: ServedVersion
  deps?: Partial<InvokeDeps>
  before?: (world: World) => void
  /** The fast path leaves the call to the general one. */
  isLeft?: true
}

const CASES: readonly Case[] = [
  { name: 'a page' },
  { name: 'a page with a next page', lane: async () => reply({ cursorJson: '{"after":"b"}' }) },
  { name: 'a page of a given size', body: { page: { size: 7 } } },
  {
    name: 'a page of a given size, with a next page',
    body: { page: { size: 7 } },
    lane: async () => reply({ cursorJson: '"c"' }),
  },
  { name: 'an invalid size', body: { page: { size: 0 } } },
  { name: 'a size that is too large', body: { page: { size: 1e9 } } },
  { name: 'a page that is not an object', body: { page: 3 } },
  { name: 'a page token', body: { page: { token: 'a', size: null } }, isLeft: true },
  { name: 'a null page token', body: { page: { token: null, size: null } } },
  { name: 'raw data', body: { include_raw_data: true } },
  { name: 'declined raw data', body: { include_raw_data: null } },
  { name: 'a number as include_raw_data', body: { include_raw_data: 1 } },
  { name: 'settings', body: { settings: { zone: 4 } } },
  { name: 'invalid settings', body: { settings: { zone: 'x' } } },
  { name: 'unknown settings', body: { settings: { other: 1 } } },
  { name: 'no credentials', body: { auth: null } },
  { name: 'credentials of another kind', body: { auth: { basic: { username: 'a' } } } },
  { name: 'credentials that are not an object', body: { auth: 'x' } },
  { name: 'a request', body: { request: { custom_attributes: ['x'] } } },
  { name: 'an invalid request', body: { request: { custom_attributes: 'x' } } },
  { name: 'a request that is not an object', body: { request: 5 } },
  { name: 'an unknown member', body: { other: 1 } },
  {
    name: 'a member named like one of Object.prototype',
    body: '{"__proto__":{"a":1},"request":{}}',
  },
  { name: 'a body that is not JSON', body: 'x' },
  { name: 'a body that is a list', body: '[]' },
  { name: 'an empty body', body: '' },
  { name: 'a body that is nested too deeply', body: '['.repeat(100_000) },
  { name: 'another connector', id: 'other' },
  { name: 'another capability', capability: 'fly' },
  { name: 'a capability that is not offered', capability: 'list_resources' },
  { name: 'a capability in its other spelling', capability: 'list-accounts' },
  { name: 'one account', capability: 'get_account', body: { request: { account_id: 'a' } } },
  { name: 'one account without its id', capability: 'get_account' },
  {
    name: 'an error of the connector',
    lane: async () => thrown(),
    deps: { locate: async () => 'connector.ts:31:12' },
  },
  {
    name: 'an error of the connector with raw data',
    body: { include_raw_data: true },
    lane: async () => thrown({}, '{"said":1}'),
  },
  {
    name: 'an error with a code of its own',
    lane: async () => thrown({ at: [], status_code: 404 }),
  },
  {
    name: 'a worker that died',
    lane: async () => {
      throw new RuntimeError('worker_died', 'the worker died')
    },
  },
  {
    name: 'a deadline within a tick',
    deps: { ceilings: { ...ceilings, maxDeadlineMs: 1 } },
    lane: async ({ deadlineMs }) => {
      expect(deadlineMs).toBe(1)
      throw new RuntimeError('deadline_passed', 'no answer within 0.4 ms')
    },
  },
  {
    name: 'a deadline that a request outlasts',
    deps: {
      ceilings: { ...ceilings, maxDeadlineMs: 1 },
      openEgress: () => ({
        fetch: () => Promise.reject(new Error('late')),
        records: [RECORD, { ...RECORD, ...OPEN }],
        hasWritten: () => false,
      }),
    },
    lane: async (call) => {
      // The cast: `fetch` above reads nothing of the request.
      await call.fetch({} as never).catch(() => {})
      throw new RuntimeError('deadline_passed', 'no answer within 0.4 ms')
    },
  },
  {
    name: 'a caller that hangs up',
    lane: (call, { caller }) =>
      new Promise((_resolve, reject) => {
        const gone = () => reject(new RuntimeError('caller_gone', 'the caller hung up'))
        call.signal.addEventListener('abort', gone, { once: true })
        caller.hangUp()
      }),
  },
  {
    name: 'a log line with a secret',
    lane: async (call) => {
      call.log({ level: 'info', message: `with ${SECRET}`, fields: { note: SECRET } })
      return reply()
    },
  },
  { name: 'accounts that are omitted', lane: async () => reply({ leftOut: 2 }) },
  {
    name: 'a request to an upstream that sends Retry-After',
    deps: {
      openEgress: () => ({
        fetch: () => Promise.reject(new Error('429')),
        records: [{ ...RECORD, askedUntilMs: Date.now() + 60_000 }],
        hasWritten: () => true,
      }),
    },
    lane: async (call) => {
      expect(call.hasWritten()).toBe(false)
      // The cast: `fetch` above reads nothing of the request.
      await call.fetch({} as never).catch(() => {})
      expect(call.hasWritten()).toBe(true)
      return thrown({ code: 'rate_limited', at: [] })
    },
  },
  {
    name: 'a version that changes between request and reply',
    lane: async (_call, world) => {
      world.current = versionOf('2.0.0')
      return reply({ cursorJson: '"b"' })
    },
  },
  {
    name: 'a version that is removed between request and reply',
    lane: async (_call, world) => {
      world.current = null
      return reply()
    },
  },
  {
    name: 'a version that is being retired',
    before: (world) => {
      world.ending = world.current
      world.current = null
    },
    isLeft: true,
  },
  {
    name: 'settings that have changed with the version',
    body: { settings: { zone: 4 } },
    before: (world) => {
      world.current = versionOf('3.0.0', { settings: { zone: { type: 'string' } } })
    },
  },
]

type Outcome = { answers: unknown[]; logs: unknown[]; records: unknown[]; onLane: unknown[] }

/** Runs a case three times, so that the tenant is unknown at first and known later. Returns all results. */
async function run(way: Way, one: Case): Promise<{ told: Outcome; left: number }> {
  const outcome: Outcome = { answers: [], logs: [], records: [], onLane: [] }
  const first = one.served ?? versionOf('1.0.0')
  const world: World = { current: first, ending: null, caller: createCaller() }
  const { lane = async () => reply() } = one
  const pageTokens = createPageTokens(['s'.repeat(32)])
  const turns = createConcurrencyLimit()
  const deps: InvokeDeps = {
    find: (id) => (id === 'acme' ? world.current : null),
    ending: (id) => (id === 'acme' ? world.ending : null),
    byDigest: () => null,
    run(name, call) {
      const { page, marks, ...rest } = JSON.parse(call.callJson)
      const { connector, deadlineMs, raw, isolateKey, limits } = call
      // The placeholders differ from call to call.
      const text = JSON.stringify(rest).replaceAll(/"[A-Za-z0-9]{30,}"/g, '"PLACEHOLDER"')
      const isOnTime = deadlineMs > 0
      outcome.onLane.push({ name, text, page, marks: marks?.length, connector, raw, isolateKey })
      outcome.onLane.push({ limits, isOnTime, capability: call.capability })
      return lane(call, world)
    },
    openEgress: () => ({ fetch: vi.fn(), records: [], hasWritten: () => false }),
    pageTokens,
    locate: async () => null,
    ceilings,
    turns,
    log: (line) => void outcome.logs.push(line),
    onUpstream: ({ id }, capability, { askedUntilMs: _, ...record }, requestId) =>
      void outcome.records.push({ id, capability, record, requestId }),
    performOAuth: () => Promise.reject(new Error('no authorization server')),
    ...one.deps,
  }
  const invoke = createInvoke(deps)
  const start = createStart({
    ...{ ...deps, turns },
    start(name, call, done: Done<LaneReply>) {
      deps.run(name, call).then(done, done)
    },
  })
  const { body: changes = {}, id: connectorId = 'acme', capability = 'list_accounts' } = one
  const text =
    typeof changes === 'string' ? changes : JSON.stringify({ request: {}, auth: AUTH, ...changes })
  let left = 0

  function ask(asked: { connectorId: string; capability: string; text: string }): Promise<unknown> {
    world.caller = createCaller()
    const invocation = { ...asked, requestId: 'r1' }
    const answered = new Promise<{ body: Buffer; served: string }>((answer, fail) => {
      if (way === 'fast') {
        try {
          if (start({ ...invocation, signal: world.caller }, { answer, fail })) return
          left += 1
        } catch (error) {
          return fail(error)
        }
      }
      invoke({ ...invocation, signal: world.caller.abortSignal() }).then(answer, fail)
    })
    return answered.then(
      ({ body, served }) => ({ ...readable(String(body)), served }),
      (error) => {
        if (!(error instanceof RuntimeError)) throw error
        const { retryAfterMs, ...details } = error.details
        const { error: told } = errorBody(error, 'acme')
        return { code: error.code, details, told, isAsked: retryAfterMs !== undefined }
      },
    )
  }

  /** The answer with its page token opened, because two tokens of the same page differ. */
  function readable(body: string): object {
    const { page, ...rest } = JSON.parse(body)
    if (page === null) return { page, ...rest }
    const request = JSON.parse(text).request
    const settings = JSON.parse(text).settings ?? {}
    const scope = { connector: first.key, capability: 'list_accounts', request, settings }
    const { course, ...opened } = pageTokens.open(page.token, scope)
    return { opened, course: { ...course, mark: course.mark }, size: page.size, ...rest }
  }

  // The code of the version is loaded by the first call.
  await ask({ connectorId: 'acme', capability: 'create_account', text: '{}' }).catch(() => {})
  one.before?.(world)
  for (let round = 0; round < 3; round += 1) {
    left = 0
    outcome.answers.push(await ask({ connectorId, capability, text }))
    if (round < 2 && one.before === undefined) world.current = first
    // Loading ends in a later turn.
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(turns.waiting).toBe(0)
  return { told: outcome, left }
}

describe('both paths give the same result for', () => {
  test.each(CASES.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    const [general, fast] = await Promise.all(WAYS.map((way) => run(way, one)))
    expect(fast?.told).toEqual(general?.told)
    expect(general?.told.answers).toHaveLength(3)
    // By the third round the code is loaded, so only the calls that must take the general path take it.
    expect(fast?.left).toBe(one.isLeft ? 1 : 0)
    expect(JSON.stringify(fast?.told)).not.toContain(SECRET)
  })
})

test.each([
  ['had not answered', [{ sent: false, path: '/waits' }, {}]],
  ['had not been sent', [{ sent: false }, { sent: false, path: '/waits' }]],
])('a deadline names the request that %s', async (words, open) => {
  const outlasts = CASES.find(({ name }) => name === 'a deadline that a request outlasts')
  if (outlasts === undefined) throw new Error('no case has this name')
  const records = [RECORD, ...open.map((one) => ({ ...RECORD, ...OPEN, ...one }))]
  const fetch = () => Promise.reject(new Error('late'))
  const openEgress = () => ({ fetch, records, hasWritten: () => false })
  const one = { ...outlasts, deps: { ...outlasts.deps, openEgress } }
  for (const way of WAYS) {
    const { told } = await run(way, one)
    expect(told.answers[2]).toMatchObject({
      code: 'deadline_passed',
      told: {
        message: expect.stringContaining(
          `; QUERY db.acme.example:5432/people (select id from people) ${words}`,
        ),
      },
    })
  }
})

test('the version that answered is reported, not the one that has replaced it since', async () => {
  const one = CASES.find(({ name }) => name === 'a version that changes between request and reply')
  if (one === undefined) throw new Error('no case has this name')
  const { told } = await run('fast', one)
  expect(told.answers[1]).toMatchObject({
    served: 'acme@1.0.0',
    opened: { digest: 'digest-of-1.0.0', cursorJson: '"b"' },
  })
})
