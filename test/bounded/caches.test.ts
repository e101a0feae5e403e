/** Overfills each cache of the host through the code that uses it. */
import { describe, expect, test, vi } from 'vitest'
import { createCache } from '../../runtime/bounded/cache.ts'
import { CACHES, type CacheName } from '../../runtime/bounded/caches.ts'
import { atOnce } from '../../runtime/bounded/slices.ts'
import { createRecentCalls } from '../../runtime/connectors/lifecycle/calls.ts'
import { createLocate } from '../../runtime/connectors/registry/positions.ts'
import { createVersion } from '../../runtime/connectors/registry/version.ts'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { createRemembered } from '../../runtime/core/kernel/list/remembered.ts'
import { createSingleFlight } from '../../runtime/core/kernel/single-flight.ts'
import { createSearches } from '../../runtime/egress/blind/searches.ts'
import { createDispatchers } from '../../runtime/egress/dial/dispatchers.ts'
import { createGovernors } from '../../runtime/egress/exchange/throttle.ts'
import { parsePrivateGrants } from '../../runtime/egress/limits/grants.ts'
import { DEFAULT_LIMITS } from '../../runtime/egress/limits/limits.ts'
import { createTokens } from '../../runtime/egress/login/tokens.ts'
import { createRateLimit } from '../../runtime/http/core/rate-limit.ts'
import { createKnownCalls } from '../../runtime/invoke/known-call.ts'
import { createHeavyBook, HEAVY_LIMITS } from '../../runtime/lanes/heavy-book.ts'
import { createQuarantineBook, QUARANTINE_LIMITS } from '../../runtime/lanes/quarantine.ts'
import { createRepeats } from '../../runtime/observe/log-repeats.ts'
import { createRedact } from '../../runtime/redact/redact.ts'
import { createSealer } from '../../runtime/secrets/seal.ts'
import { manifestOf } from '../egress/fixtures/open-egress.ts'

/** Adds `count` entries of about `bytes` each. The result tells whether the nth entry is still cached. */
type Filled = (nth: number) => Promise<boolean> | boolean
type Fill = (count: number, bytes: number) => Promise<Filled> | Filled

const never = new AbortController().signal
const text = (bytes: number) => 'x'.repeat(Math.ceil(bytes / 2))

const remembered =
  (name: CacheName, bytesOf: (answer: unknown) => number): Fill =>
  async (count, bytes) => {
    const memory = createRemembered<unknown>(name, bytesOf)
    const key = (nth: number) => `${nth} ${text(name === 'list_counts' ? bytes : 0)}`
    const answer = Array.from({ length: Math.ceil(bytes / 64) }, () => '')
    for (let nth = 0; nth < count; nth += 1) await memory.at(key(nth), '1', async () => answer)
    return async (nth) => {
      const find = vi.fn(async () => answer)
      await memory.at(key(nth), '1', find)
      return find.mock.calls.length === 0
    }
  }

const LOCATE_AT = [{ line: 1, column: 1 }]
const MANIFEST = manifestOf([])

/** How each cache is filled; `bytes` is null where all entries have the same small size. */
const FILLS: Record<CacheName, { fill: Fill; bytes: number | null }> = {
  log_lines: {
    bytes: 200_000,
    fill(count, bytes) {
      const repeats = createRepeats(() => {})
      const line = (nth: number) => ({ level: 40, fields: { nth }, message: `${text(bytes)}` })
      for (let nth = 0; nth < count; nth += 1) repeats.isNew(line(nth))
      return (nth) => !repeats.isNew(line(nth))
    },
  },
  secret_searches: {
    bytes: 200_000,
    fill(count, bytes) {
      const searchFor = createSearches()
      const of = (nth: number) => {
        const latin1 = `${nth}`.padEnd(bytes / 12, 'x')
        return atOnce(searchFor([{ symbols: Buffer.from(latin1), latin1, number: 1 }]))
      }
      const searches = Array.from({ length: count }, (_, nth) => of(nth))
      return (nth) => of(nth) === searches[nth]
    },
  },
  redactions: {
    bytes: 200_000,
    fill(count, bytes) {
      const secretsOf = (nth: number) => [`${nth}`.padEnd(bytes / 28, 'x')]
      const tell = (secrets: string[]) => createRedact(() => secrets)('a text that is told')
      for (let nth = 0; nth < count; nth += 1) tell(secretsOf(nth))
      return (nth) => {
        // The spellings are made only when the search is prepared again.
        const secrets = secretsOf(nth)
        const spell = vi.spyOn(secrets, 'flatMap')
        tell(secrets)
        return spell.mock.calls.length === 0
      }
    },
  },
  shared_answers: {
    bytes: 200_000,
    async fill(count, bytes) {
      const sealer = createSealer(['s'.repeat(32)], 'test')
      const once = createSingleFlight({ db: () => null, sealer, onError: () => {} })
      for (let nth = 0; nth < count; nth += 1) await once(`${nth}`, async () => text(bytes))
      return async (nth) => {
        const find = vi.fn(async () => '')
        await once(`${nth}`, find)
        return find.mock.calls.length === 0
      }
    },
  },
  login_tokens: {
    bytes: 30_000,
    async fill(count, bytes) {
      const { get } = createTokens(Date.now)
      const token = () => ({ value: text(bytes), madeMs: 0, goodUntilMs: Infinity })
      for (let nth = 0; nth < count; nth += 1)
        await get(MANIFEST, `${nth}`, async () => token(), never)
      return async (nth) => {
        const make = vi.fn(async () => token())
        await get(MANIFEST, `${nth}`, make, never)
        return make.mock.calls.length === 0
      }
    },
  },
  judged_tenants: {
    bytes: null,
    fill(count) {
      const known = createKnownCalls()
      const version = createVersion(MANIFEST, 'digest', 'stranger', async () => '')
      const sentBy = (nth: number) => {
        const body = { auth: { token: { token: `${nth}` } }, request: {} }
        const sent = known.sent(body, version, 'list_accounts')
        if (sent === null) throw new Error('the body does not have the usual form')
        return sent
      }
      for (let nth = 0; nth < count; nth += 1) {
        const sent = sentBy(nth)
        known.judged(sent, version, sent.tenant)
      }
      return (nth) => known.isJudged(sentBy(nth), version)
    },
  },
  governors: {
    bytes: null,
    fill(count) {
      const governors = createGovernors()
      const pace = { requestsPerSecond: 50, concurrentRequests: 4 }
      const made = Array.from({ length: count }, (_, nth) => governors(`${nth}`, pace))
      return (nth) => governors(`${nth}`, pace) === made[nth]
    },
  },
  connections: {
    bytes: null,
    fill(count) {
      const grants = parsePrivateGrants('')
      const dispatchers = createDispatchers({ grants, limits: DEFAULT_LIMITS })
      const made = Array.from({ length: count }, (_, nth) => dispatchers.get(`c${nth}`, null))
      return (nth) => dispatchers.get(`c${nth}`, null) === made[nth]
    },
  },
  list_ids: {
    bytes: 640_000,
    fill: remembered('list_ids', (found) => 64 * (found as string[]).length),
  },
  list_counts: { bytes: 16_000, fill: remembered('list_counts', () => 8) },
  rate_windows: {
    bytes: null,
    fill(count) {
      const { count: ask } = createRateLimit({
        most: 1,
        perMs: CACHES.rate_windows.goodMs,
        over: 'host',
      })
      for (let nth = 0; nth < count; nth += 1) ask(`${nth}`, Date.now())
      return (nth) => !ask(`${nth}`, Date.now()).allowed
    },
  },
  calls: {
    bytes: 50_000,
    fill(count, bytes) {
      const calls = createRecentCalls()
      for (let nth = 0; nth < count; nth += 1) fillCall(calls, nth, bytes, true)
      return (nth) =>
        calls
          .list({ connector: null, app: null, cause: null, limit: count })
          .some((one) => one.request_id === `${nth}`)
    },
  },
  open_calls: {
    bytes: 50_000,
    fill(count, bytes) {
      const calls = createRecentCalls()
      for (let nth = 0; nth < count; nth += 1) fillCall(calls, nth, bytes, false)
      return (nth) => {
        calls.ended(endOf(nth))
        const [newest] = calls.list({ connector: null, app: null, cause: null, limit: 1 })
        return newest?.log.length !== 0
      }
    },
  },
  heavy_capabilities: {
    bytes: null,
    fill(count) {
      const { firstMs } = HEAVY_LIMITS
      let nowMs = 0
      const book = createHeavyBook(() => nowMs)
      for (let nth = 0; nth < count; nth += 1) {
        book.mark(`${nth}`, 'list_accounts')
        nowMs += firstMs / CACHES.heavy_capabilities.maxEntries
      }
      // A capability that is still in the book is marked for twice as long.
      return (nth) => {
        nowMs += firstMs
        book.mark(`${nth}`, 'list_accounts')
        nowMs += firstMs
        return book.has(`${nth}`, 'list_accounts')
      }
    },
  },
  standings: {
    bytes: null,
    fill(count) {
      let nowMs = 0
      const book = createQuarantineBook(() => nowMs)
      for (let nth = 0; nth < count; nth += 1) {
        book.died([`${nth}`])
        nowMs += QUARANTINE_LIMITS.aloneMs + 1
      }
      return (nth) => book.release(`${nth}`)
    },
  },
  check_failures: {
    bytes: null,
    fill(count) {
      // Filled directly: a real check takes seconds, and its cached failures cannot be read from outside.
      const failures = createCache<number>('check_failures', { bytesOf: () => 8 })
      for (let nth = 0; nth < count; nth += 1) failures.set(`${nth}`, 1)
      return (nth) => failures.get(`${nth}`) === 1
    },
  },
  source_maps: {
    bytes: 100_000,
    async fill(count, bytes) {
      const read = vi.fn(async (_digest: string) =>
        JSON.stringify({ version: 3, sources: [], mappings: '', file: 'x'.repeat(bytes) }),
      )
      const locate = createLocate(read)
      for (let nth = 0; nth < count; nth += 1) await locate(`${nth}`, LOCATE_AT)
      return async (nth) => {
        read.mockClear()
        await locate(`${nth}`, LOCATE_AT)
        return read.mock.calls.length === 0
      }
    },
  },
  versions: {
    bytes: 100_000,
    fill(count, bytes) {
      // Filled directly: otherwise a thousand folders would have to be checked.
      const versions = createCache<string>('versions', { bytesOf: (one) => 2 * one.length })
      for (let nth = 0; nth < count; nth += 1) versions.set(`${nth}`, text(bytes))
      return (nth) => versions.get(`${nth}`) !== undefined
    },
  },
  connector_code: {
    bytes: 1_000_000,
    async fill(count, bytes) {
      const read = vi.fn(async () => text(bytes))
      const versions = Array.from({ length: count }, (_, nth) =>
        createVersion(MANIFEST, `${nth}`, 'stranger', read),
      )
      for (const version of versions) await version.load()
      return async (nth) => {
        read.mockClear()
        await versions[nth]?.load()
        return read.mock.calls.length === 0
      }
    },
  },
}

const endOf = (nth: number): Parameters<ReturnType<typeof createRecentCalls>['ended']>[0] => ({
  request_id: `${nth}`,
  connector: 'acme',
  capability: 'list_accounts',
  served: 'acme@1.0.0',
  outcome: 'ok',
  message: null,
  ms: 1,
  cause: { kind: 'sync', id: '17' },
  app_id: null,
})

function fillCall(
  calls: ReturnType<typeof createRecentCalls>,
  nth: number,
  bytes: number,
  ends: boolean,
) {
  const lines = Math.max(1, Math.floor(bytes / 1000))
  for (let line = 0; line < lines; line += 1)
    calls.logged(`${nth}`, { level: 'info', message: 'x'.repeat(500) })
  if (ends) calls.ended(endOf(nth))
}

const names = Object.keys(CACHES) as CacheName[]

describe.each(names)('%s', (name) => {
  const { maxEntries, maxBytes } = CACHES[name]
  const { fill, bytes } = FILLS[name]

  test('keeps at most maxEntries entries, among them the newest', async () => {
    const isHeld = await fill(maxEntries + 2, 0)
    expect(await isHeld(maxEntries + 1)).toBe(true)
    expect(await isHeld(0)).toBe(false)
  })

  test.skipIf(bytes === null)(
    'keeps at most maxBytes bytes, among them the newest entry',
    async () => {
      const count = Math.ceil(maxBytes / (bytes ?? 1)) + 2
      expect(count).toBeLessThan(maxEntries)
      const isHeld = await fill(count, bytes ?? 0)
      expect(await isHeld(count - 1)).toBe(true)
      expect(await isHeld(0)).toBe(false)
    },
  )

  test.runIf(bytes === null)('can keep maxEntries entries within maxBytes', async () => {
    const isHeld = await fill(maxEntries, 0)
    expect(await isHeld(0)).toBe(true)
  })
})

describe('a cache', () => {
  const sized = (means = {}) =>
    createCache<string>('login_tokens', { bytesOf: (value) => value.length, ...means })
  const { maxBytes } = CACHES.login_tokens

  test('does not store an entry larger than the whole cache, and keeps the others', () => {
    const gone = vi.fn()
    const cache = sized({ onGone: gone })
    cache.set('small', 'x')
    cache.set('huge', 'x'.repeat(maxBytes))
    expect(cache.get('huge')).toBeUndefined()
    expect(cache.get('small')).toBe('x')
    expect(gone).toHaveBeenCalledOnce()
  })

  test('updates its counts when an entry is replaced or deleted', () => {
    const cache = sized()
    cache.set('a', 'x'.repeat(1000))
    const { bytes } = cache
    cache.set('a', 'x')
    expect(cache.bytes).toBe(bytes - 999)
    cache.delete('a')
    expect([cache.entries, cache.bytes]).toEqual([0, 0])
  })

  test('evicts from the largest group, not the oldest entry', () => {
    const cache = sized({ groupOf: (key: string) => key.slice(0, 1) })
    const large = 'x'.repeat(Math.floor(maxBytes / 4))
    cache.set('quiet', 'x')
    for (let nth = 0; nth < 8; nth += 1) cache.set(`flood ${nth}`, large)
    expect(cache.get('quiet')).toBe('x')
    expect(cache.get('flood 0')).toBeUndefined()
    expect(cache.bytes).toBeLessThanOrEqual(maxBytes)
  })

  test('does not evict a busy entry, however old', () => {
    const cache = sized({ isBusy: (value: string) => value === 'busy' })
    cache.set('first', 'busy')
    for (let nth = 0; nth <= CACHES.login_tokens.maxEntries; nth += 1) cache.set(`${nth}`, 'idle')
    expect(cache.get('first')).toBe('busy')
    expect(cache.entries).toBe(CACHES.login_tokens.maxEntries)
  })

  test('evicts an expired entry within a second, even without any access', () => {
    vi.useFakeTimers()
    try {
      const { goodMs } = CACHES.shared_answers
      const gone = vi.fn()
      const cache = createCache<string>('shared_answers', { bytesOf: () => 1, onGone: gone })
      cache.set('a', 'secret')
      vi.advanceTimersByTime(goodMs / 2)
      cache.set('b', 'younger secret')
      vi.advanceTimersByTime(goodMs / 2 + 1000)
      expect(gone.mock.calls).toEqual([['secret']])
      vi.advanceTimersByTime(goodMs / 2)
      expect(gone.mock.calls).toEqual([['secret'], ['younger secret']])
      expect(cache.entries).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})

test('a concurrent request for a token gets the result of the login under way', async () => {
  const { get } = createTokens(Date.now)
  const made = Promise.withResolvers<{ value: string; madeMs: number; goodUntilMs: number }>()
  const first = get(MANIFEST, 'a', () => made.promise, never)
  const second = get(MANIFEST, 'a', () => Promise.reject(new RuntimeError('internal', '')), never)
  made.resolve({ value: 't', madeMs: 0, goodUntilMs: Infinity })
  expect(await second).toBe(await first)
})
