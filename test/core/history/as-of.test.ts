/**
 * Answers about the past against a generated one of which the truth is known: syncs that succeed, fail and
 * stop, over accounts and associations that come and go. `SPANS=10000` for a longer one, `SEED=7` for another.
 */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CoreHost } from '../host.ts'
import { ask, connect, ended, startSynced, sync } from '../sync/synced.ts'
import {
  account,
  association,
  entitlement,
  startUpstream,
  type Upstream,
} from '../sync/upstream.ts'

const SPANS = Number(process.env['SPANS'] ?? 800)
const SEED = Number(process.env['SEED'] ?? 1)
const QUESTIONS = 300

const ACCOUNTS = Math.max(40, Math.ceil(SPANS / 25))
const ENTITLEMENTS = 8
const STATUSES = ['ACTIVE', 'SUSPENDED']

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

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What was held from a moment on, until that of the next. */
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

test(`every answer about the past is what was true then (seed ${SEED})`, async () => {
  const random = randomFrom(SEED)
  const pick = (count: number): number => Math.floor(random() * count)
  const appId = await connect(core, upstream)
  const people = Array.from({ length: ACCOUNTS }, (_, n) => `a${String(n).padStart(5, '0')}`)
  const there = new Map(people.map((id) => [id, 'ACTIVE']))
  const held = new Set<string>()
  upstream.holds.entitlements = Array.from({ length: ENTITLEMENTS }, (_, n) => entitlement(`e${n}`))
  for (const id of people)
    for (let n = 0; n < ENTITLEMENTS; n += 1) if (random() < 0.4) held.add(`${id} e${n}`)

  const truths: Truth[] = [{ fromMs: await moment(), accounts: new Map(), held: new Set() }]
  const states: Record<string, number> = {}
  for (let runs = 0; runs < 12 || (await spans()) < SPANS; runs += 1) {
    for (const id of people) {
      const [comes, changes, status] = [random() < 0.06, random() < 0.06, STATUSES[pick(2)]]
      if (comes && there.has(id)) there.delete(id)
      else if (comes || (changes && there.has(id))) there.set(id, status ?? '')
      for (let n = 0; n < ENTITLEMENTS; n += 1)
        if (random() < 0.06) {
          const one = `${id} e${n}`
          held.has(one) ? held.delete(one) : held.add(one)
        }
    }
    const [fails, stops] = runs === 0 ? [false, false] : [random() < 0.15, random() < 0.15]
    upstream.before = (kind) =>
      fails && kind === 'associations' ? { status: 401, code: 'unauthenticated' } : undefined
    const listed = stops ? people.slice(0, 3).filter((id) => there.has(id)) : [...there.keys()]
    upstream.holds.accounts = listed.map((id) => account(id, { user_status: there.get(id) }))
    const holds = [...held].filter((one) => there.has(one.split(' ')[0] ?? ''))
    upstream.holds.associations = holds.map((one) => {
      const [id = '', name = ''] = one.split(' ')
      return association(id, name)
    })
    let run = await sync(core, appId)
    // So much has vanished by chance: an operator says that it is so.
    if (run.state === 'STOPPED' && !stops) {
      await core.call('POST', `/operator/syncs/${run.id}/accept`, { body: {} })
      run = await ended(core, appId)
    }
    states[run.state] = (states[run.state] ?? 0) + 1
    if (run.state !== 'SUCCEEDED') continue
    const seen = new Map(listed.sort().map((id) => [id, there.get(id) ?? '']))
    truths.push({ fromMs: run.endedAt?.getTime() ?? 0, accounts: seen, held: new Set(holds) })
  }
  const endMs = await moment()
  expect(await spans()).toBeGreaterThanOrEqual(SPANS)
  expect(Object.keys(states).sort()).toEqual(['FAILED', 'STOPPED', 'SUCCEEDED'])

  const firstMs = truths[0]?.fromMs ?? 0
  const edges = truths.flatMap(({ fromMs }) => [fromMs - 1, fromMs, fromMs + 1])
  for (let n = 0; n < QUESTIONS; n += 1) {
    const any = firstMs + pick(endMs - firstMs + 1)
    const atMs = Math.min(
      endMs,
      Math.max(firstMs, n % 3 === 0 ? (edges[pick(edges.length)] ?? any) : any),
    )
    const truth = truths.findLast(({ fromMs }) => fromMs <= atMs) as Truth
    const at = new Date(atMs).toISOString()
    const who = people[pick(people.length)] as string
    const [found] = await ask<{ id: string }>(
      core,
      sql`select id from accounts where app_id = ${appId} and unique_identifier = ${who}`,
    )
    type Held = { unique_identifier: string; entitlement_id: string }
    const of = found ? `&account_id=${found.id}` : null
    const answer = of ? await everyPage<Held>(`/associations?app_id=${appId}&as_of=${at}${of}`) : []
    expect(answer.map((one) => `${one.unique_identifier} ${one.entitlement_id}`).sort()).toEqual(
      [...truth.held].filter((one) => one.startsWith(`${who} `)).sort(),
    )
    if (n % 20 !== 0) continue
    type Listed = { unique_identifier: string; status: string }
    const listed = await everyPage<Listed>(`/accounts?app_id=${appId}&as_of=${at}`)
    expect(listed.map((one) => [one.unique_identifier, one.status])).toEqual([...truth.accounts])
    const all = await everyPage<Held>(`/associations?app_id=${appId}&as_of=${at}`)
    expect(all.map((one) => `${one.unique_identifier} ${one.entitlement_id}`).sort()).toEqual(
      [...truth.held].sort(),
    )
  }
}, 600_000)
