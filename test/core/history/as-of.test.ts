/**
 * Answers about the past, checked against a generated history: syncs of two apps succeed, fail and stop
 * anywhere, accounts, entitlements and associations appear and disappear, retention removes runs, and a host
 * of the previous version leaves its rows. `SPANS=10000` for a longer history, `SEED=7` for another.
 */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prune } from '../../../runtime/core/retention/prune.ts'
import { parseRetention } from '../../../runtime/core/retention/rules.ts'
import type { CoreHost } from '../host.ts'
import { ask, connect, ended, latestRun, startSynced, sync } from '../sync/synced.ts'
import {
  account,
  association,
  entitlement,
  type Fault,
  startUpstream,
  type Upstream,
} from '../sync/upstream.ts'

const SPANS = Number(process.env['SPANS'] ?? 800)
const SEED = Number(process.env['SEED'] ?? 1)
const QUESTIONS = 300

const ACCOUNTS = Math.max(40, Math.ceil(SPANS / 25))
const ENTITLEMENTS = 8
const STATUSES = ['ACTIVE', 'SUSPENDED']
const PAGE_SIZE = 50

let upstream: Upstream
let core: CoreHost

beforeAll(async () => {
  upstream = await startUpstream()
  core = await startSynced(upstream)
})
afterAll(async () => {
  await core.stop()
  await upstream.close()
})

/** Numbers from 0 to 1, reproducible by the seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What was held from a time on, until the time of the next entry. */
type Truth = { fromMs: number; accounts: Map<string, string>; held: Set<string> }

const moment = async (): Promise<number> => {
  const [row] = await ask<{ ms: string }>(
    core,
    sql`select floor(extract(epoch from clock_timestamp()) * 1000) as ms`,
  )
  return Number(row?.ms)
}

async function spans(): Promise<number> {
  const [row] = await ask<{ n: string }>(
    core,
    sql`select (select count(*) from account_spans) + (select count(*) from association_spans)
      + (select count(*) from associations) as n`,
  )
  return Number(row?.n)
}

async function everyPage<T>(path: string): Promise<T[]> {
  const items: T[] = []
  for (let page = 1; ; page += 1) {
    const { status, body } = await core.call('GET', `${path}&size=100&page=${page}`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    items.push(...body.items)
    if (page >= body.pages) return items
  }
}

/** Faults that occur once in the middle of a run, while a page of a listing is requested. */
const RUN_FAULTS: Record<string, (appId: string) => Promise<Fault | undefined>> = {
  refused: async () => ({ status: 401, code: 'unauthenticated' }),
  'page lost': async () => ({ status: 410, code: 'invalid_page_token' }),
  disconnected: async (appId) => {
    await core.db.execute(sql`update apps set disconnected_at = now() where id = ${appId}`)
    return undefined
  },
  cancelled: async (appId) => {
    const { id } = await latestRun(core, appId)
    await core.call('POST', `/operator/syncs/${id}/cancel`, { body: {} })
    return undefined
  },
  'another host': async (appId) => {
    await core.db.execute(sql`
      update sync_runs set lease_by = gen_random_uuid() where app_id = ${appId} and state = 'RUNNING'`)
    return undefined
  },
}

/** Listings and their pages; expenses are listed after the run has deleted what is gone. */
const PLACES = [
  ...['accounts ', 'entitlements ', 'associations ', `associations ${PAGE_SIZE}`, 'activity '],
  ...['expenses ', 'expenses ', 'expenses '],
]

/** Sets when the database was migrated to this version: now, or too long ago for older hosts to exist. */
const setMigrationTime = (at: 'long ago' | 'now') =>
  core.db.execute(sql`
    update deployment_versions set created_at = ${at === 'now' ? 'now' : '2020-02-01Z'}::timestamptz`)

/** What a host of the previous version leaves of an unfinished run: rows without a first run or a span. */
const removeUnrecordedFirstRuns = (appId: string) =>
  core.db.execute(sql`
    update associations h set first_run = null from sync_runs r
    where h.app_id = ${appId} and r.id = h.first_run and r.recorded_at is null`)

/** Makes the runs old enough for retention, adds many later ones, and removes those that are not needed. */
async function pruneOldRuns(appId: string): Promise<void> {
  await core.db.execute(sql`
    update sync_runs set ended_at = '2020-01-01Z' where ended_at is not null and app_id = ${appId}`)
  await core.db.execute(sql`
    insert into sync_runs (domain_id, app_id, state, page_size, ended_at)
    select domain_id, id, 'FAILED', 100, '2020-01-01Z' from apps, generate_series(1, 25) where id = ${appId}`)
  await prune(core.db, parseRetention(''), new AbortController().signal)
}

type Held = {
  unique_identifier: string
  entitlement_id: string
  since: string
  until: string | null
}
const nameOf = (one: Held): string => `${one.unique_identifier} ${one.entitlement_id}`
const spanText = (one: Held): string => `${nameOf(one)} ${one.since} ${one.until}`

/** Each association that was held at a time, with the beginning and the end of its unbroken span. */
function spansAt(truths: readonly Truth[], at: number, of: (one: string) => boolean): string[] {
  const iso = (n: number) => new Date(truths[n]?.fromMs ?? 0).toISOString()
  return [...(truths[at]?.held ?? [])].filter(of).map((one) => {
    const has = ({ held }: Truth) => held.has(one)
    const since = truths.findLastIndex((truth, n) => n <= at && !has(truth)) + 1
    const until = truths.findIndex((truth, n) => n > at && !has(truth))
    return `${one} ${iso(since)} ${until === -1 ? null : iso(until)}`
  })
}

test(`every answer about the past matches the generated history (seed ${SEED})`, async () => {
  const random = randomFrom(SEED)
  const pick = (count: number): number => Math.floor(random() * count)
  const anyOf = <T>(all: readonly T[]): T => all[pick(all.length)] as T
  await core.db.execute(sql`update domains set created_at = '2020-01-01Z'`)
  await setMigrationTime('long ago')
  const appIds = [
    await connect(core, upstream),
    await connect(core, { baseUrl: `${upstream.baseUrl}/tenant-b` }),
  ]
  for (const id of appIds)
    await core.call('PUT', `/operator/apps/${id}/sync`, {
      body: { settings: { page_size: PAGE_SIZE } },
    })
  const people = Array.from({ length: ACCOUNTS }, (_, n) => `a${String(n).padStart(5, '0')}`)
  const there = new Map(people.map((id) => [id, 'ACTIVE']))
  const held = new Set<string>()
  const names = Array.from({ length: ENTITLEMENTS }, (_, n) => `e${n}`)
  const gone = new Set<string>()
  for (const id of people) for (const name of names) if (random() < 0.4) held.add(`${id} ${name}`)

  const firstMs = await moment()
  const truthsOf = new Map<string, Truth[]>(
    appIds.map((id) => [id, [{ fromMs: firstMs, accounts: new Map(), held: new Set() }]]),
  )
  const unseen = new Set([
    'CANCELLED',
    'FAILED',
    'STOPPED',
    'SUCCEEDED',
    ...Object.keys(RUN_FAULTS),
  ])
  for (let runs = 0; runs < 24 || unseen.size > 0 || (await spans()) < SPANS; runs += 1) {
    for (const id of people) {
      const [comes, changes, status] = [random() < 0.06, random() < 0.06, anyOf(STATUSES)]
      if (comes && there.has(id)) there.delete(id)
      else if (comes || (changes && there.has(id))) there.set(id, status)
      for (const name of names)
        if (random() < 0.06) {
          const one = `${id} ${name}`
          held.has(one) ? held.delete(one) : held.add(one)
        }
    }
    for (const name of names)
      if (random() < 0.1) gone.has(name) ? gone.delete(name) : gone.add(name)

    const appId = anyOf(appIds)
    const isFirst = truthsOf.get(appId)?.length === 1
    const stops = !isFirst && random() < 0.1
    const runFault = random() < 0.5 ? anyOf(Object.keys(RUN_FAULTS)) : null
    const place = anyOf(PLACES)
    let isFromFuture = runFault !== null
    upstream.before = async (kind, cursor) => {
      if (!isFromFuture || `${kind} ${cursor}` !== place) return undefined
      isFromFuture = false
      return RUN_FAULTS[runFault ?? '']?.(appId)
    }
    await setMigrationTime(random() < 0.3 ? 'now' : 'long ago')
    const listed = stops ? people.slice(0, 3).filter((id) => there.has(id)) : [...there.keys()]
    upstream.holds.accounts = listed.map((id) => account(id, { user_status: there.get(id) }))
    upstream.holds.entitlements = names
      .filter((one) => !gone.has(one))
      .map((one) => entitlement(one))
    const holds = [...held].filter((one) => {
      const [id = '', name = ''] = one.split(' ')
      return there.has(id) && !gone.has(name)
    })
    upstream.holds.associations = holds.map((one) => {
      const [id = '', name = ''] = one.split(' ')
      return association(id, name)
    })
    let run = await sync(core, appId)
    // So much vanished by chance that an operator has to accept it.
    if (run.state === 'STOPPED' && !stops) {
      await core.call('POST', `/operator/syncs/${run.id}/accept`, { body: {} })
      run = await ended(core, appId)
    }
    await core.db.execute(sql`update apps set disconnected_at = null where id = ${appId}`)
    unseen.delete(run.state)
    if (runFault !== null && !isFromFuture) unseen.delete(runFault)
    if (run.state === 'SUCCEEDED') {
      const accounts = new Map(listed.sort().map((id) => [id, there.get(id) ?? '']))
      const fromMs = run.endedAt?.getTime() ?? 0
      truthsOf.get(appId)?.push({ fromMs, accounts, held: new Set(holds) })
    } else if (random() < 0.5) await removeUnrecordedFirstRuns(appId)
    if (random() < 0.15) await pruneOldRuns(appId)
    const truths = truthsOf.get(appId) ?? []
    const current = await everyPage<Held>(`/associations?app_id=${appId}`)
    expect(current.map(spanText).sort()).toEqual(
      spansAt(truths, truths.length - 1, () => true).sort(),
    )
  }
  const endMs = await moment()
  expect(await spans()).toBeGreaterThanOrEqual(SPANS)

  for (let n = 0; n < QUESTIONS; n += 1) {
    const appId = anyOf(appIds)
    const truths = truthsOf.get(appId) ?? []
    const edges = truths.flatMap(({ fromMs }) => [fromMs - 1, fromMs, fromMs + 1])
    const any = firstMs + pick(endMs - firstMs + 1)
    const atMs = Math.min(endMs, Math.max(firstMs, n % 3 === 0 ? anyOf(edges) : any))
    const then = truths.findLastIndex(({ fromMs }) => fromMs <= atMs)
    const at = new Date(atMs).toISOString()
    const who = anyOf(people)
    const [found] = await ask<{ id: string }>(
      core,
      sql`select id from accounts where app_id = ${appId} and unique_identifier = ${who}`,
    )
    const of = found ? `&account_id=${found.id}` : null
    const answer = of ? await everyPage<Held>(`/associations?app_id=${appId}&as_of=${at}${of}`) : []
    expect(answer.map(spanText).sort()).toEqual(
      spansAt(truths, then, (one) => one.startsWith(`${who} `)).sort(),
    )
    if (n % 20 !== 0) continue
    type Listed = { unique_identifier: string; status: string }
    const listed = await everyPage<Listed>(`/accounts?app_id=${appId}&as_of=${at}`)
    expect(listed.map((one) => [one.unique_identifier, one.status])).toEqual([
      ...(truths[then]?.accounts ?? []),
    ])
    const all = await everyPage<Held>(`/associations?app_id=${appId}&as_of=${at}`)
    expect(all.map(spanText).sort()).toEqual(spansAt(truths, then, () => true).sort())
    const csv = await core.call('GET', `/associations?as_of=${at}`, {
      headers: { accept: 'text/csv' },
    })
    const whole = await everyPage<Held & { account_id: string }>(`/associations?as_of=${at}`)
    const lines = String(csv.body).trim().split('\r\n').slice(1)
    expect(lines.map((line) => line.split(',').slice(1, 3))).toEqual(
      whole.map((one) => [one.account_id, one.unique_identifier]),
    )
  }
}, 600_000)
