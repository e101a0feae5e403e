import * as v from 'valibot'
import { describe, expect, test, vi } from 'vitest'
import { createVersion } from '../../runtime/connectors/registry/version.ts'
import { Manifest } from '../../runtime/contract/connector/manifest.ts'
import { errorBody } from '../../runtime/contract/envelope/envelope.ts'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { CEILINGS, type Ceilings } from '../../runtime/contract/limits/ceilings.ts'
import { mapValues } from '../../runtime/contract/schema/keys.ts'
import { createConcurrencyLimit } from '../../runtime/invoke/concurrency.ts'
import { createInvoke } from '../../runtime/invoke/invoke.ts'
import { createPageTokens } from '../../runtime/invoke/page-token.ts'
import { createPerforming } from '../../runtime/invoke/performing.ts'
import type { InvokeDeps } from '../../runtime/invoke/ports.ts'
import type { LaneCall, LaneReply } from '../../runtime/protocol/lane-call.ts'
import { manifestOf } from '../connectors/registry/fixtures/folders.ts'
import { until } from '../e2e/until.ts'

/** The default ceilings, with some of them changed. */
const ceilingsOf = (some: Partial<Ceilings> = {}): Ceilings => ({
  ...mapValues(CEILINGS, (row) => row.default),
  ...{ maxPages: 1000, ...some },
})

const auth = { token: { token: 'the-secret-token' } }

const versionOf = (number: string, changes: object = {}) => {
  const capabilities = { list_accounts: {}, get_account: {}, refresh_access_token: {} }
  const manifest = v.parse(Manifest, manifestOf({ version: number, capabilities, ...changes }))
  return createVersion(manifest, `digest-of-${number}`, 'stranger', async () => 'the code')
}

/** A lane that answers each call with an empty page and the next of `cursors`. */
const pages =
  (...cursors: unknown[]) =>
  async (): Promise<LaneReply> => ({
    reply: { ok: true, cursorJson: JSON.stringify(cursors.shift() ?? null), responseBytes: 2 },
    body: Buffer.from('[]{"raw":1}'),
    isEnvelope: false,
    fetchError: null,
  })

const at = [{ line: 7, column: 3 }]

/** A lane that answers each call with an error that the connector threw. */
function threw(more: object = {}) {
  const error = {
    code: 'unexpected_error',
    message: 'no',
    app_error_code: null,
    status_code: null,
    raised_by: 'TypeError',
    at,
    ...more,
  } as const
  return async (): Promise<LaneReply> => ({
    reply: { ok: false, error },
    body: Buffer.alloc(0),
    isEnvelope: false,
    fetchError: null,
  })
}

function open(
  run: (lane: string, call: LaneCall) => Promise<LaneReply>,
  more: Partial<InvokeDeps> = {},
) {
  const served = versionOf('1.0.0', { settings: { zone: { type: 'integer' } } })
  const calls: LaneCall[] = []
  const opened: AbortSignal[] = []
  const log = vi.fn()
  const invoke = createInvoke({
    find: (id) => (id === 'acme' ? served : null),
    byDigest: () => null,
    run(lane, call) {
      calls.push(call)
      return run(lane, call)
    },
    openEgress({ signal }) {
      opened.push(signal)
      const fetch = () => Promise.reject(new Error('no network'))
      return { fetch, records: [], hasWritten: () => false }
    },
    pageTokens: createPageTokens(['s'.repeat(32)]),
    locate: async () => null,
    ceilings: ceilingsOf(),
    log,
    onUpstream: () => {},
    performOAuth: () => Promise.reject(new Error('no authorization server')),
    ...more,
  })
  const ask = async (
    body: object = {},
    how: { capability?: string; id?: string; signal?: AbortSignal } = {},
  ) => {
    try {
      const answer = await invoke({
        connectorId: how.id ?? 'acme',
        capability: how.capability ?? 'list_accounts',
        text: JSON.stringify({ request: {}, auth, ...body }),
        requestId: 'r1',
        signal: how.signal ?? new AbortController().signal,
      })
      return { ...JSON.parse(`${answer.body}`), served: answer.served }
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error
      return { code: error.code, ...errorBody(error, 'acme') }
    }
  }
  return { ask, calls, opened, log }
}

describe('the lookup of a connector', () => {
  test.each([
    [{ id: 'other' }, 'connector_unknown'],
    [{ id: 'constructor' }, 'connector_unknown'],
    [{ capability: 'fly' }, 'capability_unknown'],
    [{ capability: 'constructor' }, 'capability_unknown'],
    [{ capability: '__proto__' }, 'capability_unknown'],
    [{ capability: 'list_resources' }, 'capability_missing'],
  ])('%j fails with %s', async (how, code) => {
    const { ask, calls } = open(pages())
    expect(await ask({}, how)).toMatchObject({ code })
    expect(calls).toEqual([])
  })

  test.each(['list_accounts', 'list-accounts'])('%s is found', async (capability) => {
    expect(await open(pages()).ask({}, { capability })).toMatchObject({ served: 'acme@1.0.0' })
  })

  test('the error for an unknown connector says "yet" while connectors are being looked up', async () => {
    const words = async (isLooking: boolean) =>
      (await open(pages(), { isLooking: () => isLooking }).ask({}, { id: 'other' })).error.message
    expect(await words(false)).toBe('there is no connector "other"')
    expect(await words(true)).toMatch(/^there is no connector "other" yet: .*GET \/readyz/)
  })

  test('an unknown capability is reported before an invalid body', async () => {
    expect(await open(pages()).ask({ request: 5 }, { capability: 'fly' })).toMatchObject({
      code: 'capability_unknown',
    })
  })
})

describe('a call', () => {
  test('reaches the lane with all its parts', async () => {
    const { ask, calls } = open(pages())
    await ask({ settings: { zone: 4 }, page: { size: 7 }, include_raw_data: true })
    const [call] = calls
    expect(call).toMatchObject({ capability: 'list_accounts', raw: true })
    // The time that is left when the call reaches the lane.
    expect(call?.deadlineMs).toBeGreaterThan(20_000)
    expect(call?.deadlineMs).toBeLessThanOrEqual(30_000)
    expect(JSON.parse(call?.callJson ?? '')).toEqual({
      request: {},
      settings: { zone: 4 },
      auth: { token: { token: expect.stringMatching(/^[A-Za-z0-9]+$/) } },
      credentials: null,
      marks: [expect.any(String), expect.any(String)],
      raw: true,
      table: false,
      page: { cursor: null, size: 7 },
    })
  })

  test('is limited by the ceilings of the operator where they are lower than the manifest’s', async () => {
    const ceilings = ceilingsOf({ maxDeadlineMs: 500, maxMemoryMb: 20, maxConcurrency: 1 })
    const { ask, calls } = open(pages(), { ceilings })
    await ask()
    expect(calls[0]?.deadlineMs).toBeLessThanOrEqual(500)
    expect(calls[0]?.connector.memoryMb).toBe(20)
  })

  test('has an isolate key derived only from its settings and credentials', async () => {
    const { ask, calls } = open(pages())
    await ask({ page: { size: 5 } })
    await ask({ request: { custom_attributes: ['x'] } })
    await ask({ settings: { zone: 1 } })
    await ask({ auth: { token: { token: 'another' } } })
    const keys = calls.map(({ isolateKey }) => isolateKey)
    expect(keys[0]).toBe(keys[1])
    expect(new Set(keys).size).toBe(3)
    expect(keys.join()).not.toContain('secret')
  })

  test('takes new placeholders to the lane each time, and no secret', async () => {
    const { ask, calls } = open(pages())
    await ask()
    await ask()
    const [first, second] = calls.map(({ callJson }) => JSON.parse(callJson).auth.token.token)
    expect(first).not.toBe(second)
    expect(JSON.stringify(calls)).not.toContain(auth.token.token)
  })

  test('takes a secret that is granted in clear to the lane, and no placeholders', async () => {
    const clear_secrets = [{ field: 'token.token', because: 'The system wants it hashed.' }]
    const { ask, calls } = open(pages(), { find: () => versionOf('1.0.0', { clear_secrets }) })
    await ask()
    expect(JSON.parse(calls[0]?.callJson ?? '')).toMatchObject({ auth })
    expect(calls[0]?.callJson).not.toContain('marks')
  })

  test('passes the secrets of its placeholders to its egress', async () => {
    const opened: unknown[] = []
    const { ask } = open(
      async (_lane, call) => {
        opened.push(JSON.parse(call.callJson).auth.token.token)
        await call.fetch({} as never).catch(() => {})
        throw new RuntimeError('worker_died', 'x')
      },
      {
        openEgress({ secrets: { secrets } }) {
          opened.push(secrets)
          return {
            fetch: () => Promise.reject(new Error('x')),
            records: [],
            hasWritten: () => false,
          }
        },
      },
    )
    await ask()
    expect(opened[1]).toEqual([{ placeholder: opened[0], value: auth.token.token, owner: 'auth' }])
  })

  const failing = (code: 'worker_died' | 'deadline_passed') => () =>
    Promise.reject<LaneReply>(new RuntimeError(code, 'x'))
  test.each<[string, () => Promise<LaneReply>]>([
    ['succeeds', pages()],
    ['is answered with an error', threw()],
    ['fails', failing('worker_died')],
    ['passes its deadline', failing('deadline_passed')],
  ])('aborts its requests when it %s', async (_how, end) => {
    const before: boolean[] = []
    const { ask, opened } = open(async (_lane, call) => {
      await call.fetch({} as never).catch(() => {})
      before.push(...opened.map(({ aborted }) => aborted))
      return end()
    })
    await ask()
    expect({ before, after: opened.map(({ aborted }) => aborted) }).toEqual({
      before: [false],
      after: [true],
    })
  })

  test('opens no egress if it makes no request', async () => {
    const { ask, opened } = open(async (_lane, call) => {
      expect(call.hasWritten()).toBe(false)
      throw new RuntimeError('worker_died', 'x')
    })
    await ask()
    expect(opened).toEqual([])
  })

  test('waits for a turn no longer than its deadline', async () => {
    const ceilings = ceilingsOf({ maxDeadlineMs: 60, maxMemoryMb: 64, maxConcurrency: 1 })
    const { ask } = open(() => new Promise(() => {}), { ceilings })
    void ask()
    expect(await ask()).toMatchObject({ code: 'deadline_passed' })
  })

  test('whose caller hangs up while it waits ends with caller_gone', async () => {
    const ceilings = ceilingsOf({ maxDeadlineMs: 60_000, maxMemoryMb: 64, maxConcurrency: 1 })
    const { ask } = open(() => new Promise(() => {}), { ceilings })
    void ask()
    const hangUp = new AbortController()
    const second = ask({}, { signal: hangUp.signal })
    hangUp.abort()
    expect(await second).toMatchObject({ code: 'caller_gone' })
  })

  test('that waits for its turn ends at once when it is cut off, and others go on', async () => {
    const ceilings = ceilingsOf({ maxDeadlineMs: 60_000, maxMemoryMb: 64, maxConcurrency: 1 })
    const performing = createPerforming()
    const turns = createConcurrencyLimit()
    const ends = Promise.withResolvers<void>()
    const { ask, calls } = open(() => ends.promise.then(pages()), { ceilings, performing, turns })
    const first = ask()
    await until('the first runs', () => calls.length === 1)
    const second = ask({ request: { account_id: 'u1' } }, { capability: 'get_account' })
    const third = ask()
    await until('both wait', () => turns.waiting === 2)
    performing.cutOff((_version, capability) => {
      if (capability === 'get_account') throw new RuntimeError('egress_undeclared', 'taken away')
    })
    expect(await second).toMatchObject({ code: 'egress_undeclared' })
    expect([turns.waiting, calls.length]).toEqual([1, 1])
    ends.resolve()
    expect([await first, await third]).toMatchObject([{ response: [] }, { response: [] }])
    // No call is left that could be cut off.
    performing.cutOff(() => {
      throw new Error('a call is still being performed')
    })
    expect(turns.tryTake('acme', 'anybody', { concurrency: 1 })).not.toBeNull()
  })

  test('releases its turn when it fails', async () => {
    const ceilings = ceilingsOf({ maxDeadlineMs: 60_000, maxMemoryMb: 64, maxConcurrency: 1 })
    const { ask } = open(
      async () => {
        throw new RuntimeError('worker_died', 'x')
      },
      { ceilings },
    )
    for (let round = 0; round < 3; round += 1)
      expect(await ask()).toMatchObject({ code: 'worker_died' })
  })
})

describe('raw data', () => {
  test.each([
    [true, { raw: 1 }],
    [false, null],
    [null, null],
  ])('is returned only when asked for: %j', async (include_raw_data, raw_data) => {
    expect(await open(pages()).ask({ include_raw_data })).toMatchObject({ response: [], raw_data })
  })
})

describe('a sequence of pages', () => {
  test('returns each cursor to the connector, and ends without a token', async () => {
    const { ask, calls } = open(pages({ after: 'b' }, ['c'], null))
    const first = await ask({ page: { size: 3 } })
    const second = await ask({ page: { token: first.page.token, size: 3 } })
    const third = await ask({ page: { token: second.page.token } })
    expect([first.page.size, second.page.size, third.page]).toEqual([3, 3, null])
    expect(calls.map(({ callJson }) => JSON.parse(callJson).page)).toEqual([
      { cursor: null, size: 3 },
      { cursor: { after: 'b' }, size: 3 },
      { cursor: ['c'], size: 3 },
    ])
  })

  test('continues with another credential, because a token may be refreshed in between', async () => {
    const { ask } = open(pages('b', null))
    const { page } = await ask()
    expect(await ask({ page, auth: { token: { token: 'refreshed' } } })).toMatchObject({
      page: null,
    })
  })

  test.each([
    ['a size where there was none', {}, { size: 4 }, {}],
    ['another size', { page: { size: 3 } }, { size: 4 }, {}],
    ['another request', {}, {}, { request: { custom_attributes: ['x'] } }],
    ['other settings', {}, {}, { settings: { zone: 3 } }],
  ])('cannot continue with %s; the error repeats the page', async (_name, begin, page, more) => {
    const { ask, calls } = open(pages('b', null))
    const { token } = (await ask(begin)).page
    expect(await ask({ page: { token, ...page }, ...more })).toMatchObject({
      error: { error_code: 'invalid_page_token', raised_by: null },
      page: { token },
    })
    expect(calls).toHaveLength(1)
  })

  test('cannot continue with another capability', async () => {
    const { ask } = open(pages('b'))
    const { page } = await ask()
    const request = { account_id: 'a' }
    expect(await ask({ page, request }, { capability: 'get_account' })).toMatchObject({
      code: 'page_token_invalid',
    })
  })

  test('repeats its page in every error, so that a caller can resume', async () => {
    let failing = false
    const { ask } = open(async () => {
      if (failing) throw new RuntimeError('worker_died', 'x')
      return pages('b')()
    })
    const { page } = await ask({ page: { size: 2 } })
    failing = true
    expect(await ask({ page })).toMatchObject({ code: 'worker_died', page })
    expect(await ask({ page: { size: 2 } })).toMatchObject({ code: 'worker_died', page: null })
  })

  test('continues with the version it started with after another has replaced it', async () => {
    const [old, next] = [versionOf('1.0.0'), versionOf('2.0.0')]
    let current = old
    let kept = true
    const { ask } = open(pages('b', 'c', 'd'), {
      find: () => current,
      byDigest: (_id, digest) => (kept && digest === old.digest ? old : null),
    })
    const { page } = await ask()
    current = next
    expect(await ask({ page })).toMatchObject({ served: 'acme@1.0.0' })
    expect(await ask()).toMatchObject({ served: 'acme@2.0.0' })
    kept = false
    expect(await ask({ page })).toMatchObject({
      code: 'page_token_invalid',
      error: { message: expect.stringContaining('is gone; start again without a token') },
    })
  })
})

describe('a log line of a connector', () => {
  test.each([
    [{ note: 'the-secret-token' }, { note: '[secret]' }],
    [undefined, null],
    [{ id: 12345678 }, { id: 12345678 }],
  ])('is logged without secrets: %j', async (fields, heard) => {
    const { ask, log } = open(async (_lane, call) => {
      call.log({ level: 'info', message: 'with the-secret-token', fields })
      return pages()()
    })
    await ask()
    expect(log.mock.calls).toEqual([
      [
        {
          level: 'info',
          message: 'with [secret]',
          fields: heard,
          connector: 'acme',
          capability: 'list_accounts',
          requestId: 'r1',
        },
      ],
    ])
  })

  test('cannot break the call, whatever the secret and the fields', async () => {
    const { ask, log } = open(async (_lane, call) => {
      call.log({ level: 'info', message: 'm', fields: { a: 12345678, b: { c: 1 } } })
      return pages()()
    })
    expect(await ask({ auth: { token: { token: '12345678' } } })).toMatchObject({ response: [] })
    expect(await ask({ auth: { token: { token: '":{"c":1}' } } })).toMatchObject({ response: [] })
    expect(log).toHaveBeenCalledTimes(2)
  })

  test('is logged without a secret that is half a character', async () => {
    const token = '\ud800'.repeat(10)
    const { ask, log } = open(async (_lane, call) => {
      call.log({ level: 'info', message: `with ${token}`, fields: { token } })
      return pages()()
    })
    expect(await ask({ auth: { token: { token } } })).toMatchObject({ response: [] })
    expect(log).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ message: 'with [secret]', fields: { token: '[secret]' } }),
    )
  })
})

test('a connector that cannot be read from disk fails the call, which keeps no turn', async () => {
  const broken = { ...versionOf('1.0.0'), load: () => Promise.reject(new Error('EIO')) }
  const ceilings = ceilingsOf({ maxDeadlineMs: 60_000, maxMemoryMb: 64, maxConcurrency: 1 })
  const { ask, opened } = open(pages(), { find: () => broken, ceilings })
  for (const _twice of [1, 2]) await expect(ask()).rejects.toThrow('EIO')
  expect(opened).toEqual([])
})

describe('an error that a connector threw', () => {
  test('names its position in the author’s files', async () => {
    const locate = vi.fn(async () => 'connector.ts:31:12')
    const { ask } = open(threw(), { locate })
    const { error } = await ask()
    expect(error.raised_in).toBe('acme:list_accounts (connector.ts:31:12)')
    expect(locate).toHaveBeenCalledExactlyOnceWith('digest-of-1.0.0', at)
  })

  test('names no position where it is unknown', async () => {
    const { error } = await open(threw()).ask()
    expect(error.raised_in).toBe('acme:list_accounts')
  })

  test('without positions in its stack is not looked up', async () => {
    const locate = vi.fn()
    const { error } = await open(threw({ at: [] }), { locate }).ask()
    expect(error.raised_in).toBe('acme:list_accounts')
    expect(locate).not.toHaveBeenCalled()
  })
})

test.each([
  [2, '2 accounts left out: only ACTIVE and SUSPENDED leave'],
  [1, '1 account left out: only ACTIVE and SUSPENDED leave'],
])('%i accounts that were left out are logged', async (leftOut, message) => {
  const { ask, log } = open(async () => ({
    reply: { ok: true, cursorJson: 'null', responseBytes: 2, leftOut },
    body: Buffer.from('[]'),
    isEnvelope: false,
    fetchError: null,
  }))
  await ask()
  expect(log).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ level: 'debug', message, connector: 'acme' }),
  )
})
