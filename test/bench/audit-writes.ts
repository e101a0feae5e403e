/**
 * `node test/bench/audit-writes.ts`: the cost of the activity log for writers. Sixteen callers change
 * something and record it, on an embedded server that waits for its disk, alternately in two ways: each
 * chains its own entry under a lock, as before migration 0026, or the entry is chained in the background.
 * Ratios are calculated within a round; the time until the last entry is chained counts.
 *
 * `ROUNDS` (5) and `MS` (3000, for one way in a round) in the environment change its length.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { Client, escapeLiteral } from 'pg'
import { recordActivity } from '../../runtime/core/kernel/audit/activity.ts'
import { verifyActivity } from '../../runtime/core/kernel/audit/chain.ts'
import { bodyOf } from '../../runtime/core/kernel/audit/entry-hash.ts'
import { chainWaiting } from '../../runtime/core/kernel/audit/unchained-entries.ts'
import { MIGRATIONS } from '../../runtime/database/compatible.ts'
import type { Db } from '../../runtime/database/database.ts'
import { deferToCommit } from '../../runtime/database/deferred-writes.ts'
import { lockNumber } from '../../runtime/database/locks.ts'
import { domainOf, person, startCore } from '../core/host.ts'
import { loadWords, machineWords } from './machine.ts'
import { ratios, spreadOf } from './statistics.ts'

const CALLERS = 16
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const MS = Number(process.env['MS'] ?? 3000)
const GOAL = 2

const load = loadWords()
const core = await startCore({}, { server: 'own' })
const { db } = core
try {
  const domainId = await domainOf(db)
  const people = await Promise.all(
    Array.from({ length: CALLERS }, (_, n) => person(db, `writer-${n}@example.com`)),
  )
  await asBefore()
  const actor = { domainId, userId: null }
  const changed = (tx: Db, id: string, n: number) =>
    tx.execute(sql`update users set family_name = ${`Round ${n}`} where id = ${id}`)
  const before = (id: string, n: number) =>
    db.transaction(async (tx) => {
      await changed(tx, id, n)
      const content = {
        eventType: 'PUSHED_USER_CHANGED',
        outcome: 'Succeeded',
        ...entryOf(id, n),
      } as const
      await chainAtOnce(tx, bodyOf({ domainId, actor: {}, ...content }))
    })
  const now = (id: string, n: number) =>
    db.transaction(async (tx) => {
      await changed(tx, id, n)
      const { targets, metadata } = entryOf(id, n)
      await recordActivity(tx, actor, 'PUSHED_USER_CHANGED', targets, metadata)
    })
  const chainAtOnce = deferToCommit((bodies: readonly string[]) => [
    `select write_activity_at_once(${escapeLiteral(domainId)}, array[${bodies.map(escapeLiteral).join(', ')}], ${lockNumber('chaining the log')})`,
  ])

  const rates: { before: number[]; now: number[] } = { before: [], now: [] }
  const ids = people.map(({ id }) => id)
  const settled = () => chainWaiting(db, domainId)
  // Warm-up: so that neither pays for one-time compilation or planning.
  await rateOf(ids, before, 500, settled)
  await rateOf(ids, now, 500, settled)
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.before.push(await rateOf(ids, before, MS, settled))
    rates.now.push(await rateOf(ids, now, MS, settled))
  }
  const { broken, waiting, rows } = await verifyActivity(db, domainId)
  if (broken || waiting > 0) throw new Error('the activity log did not verify')
  const said = (values: number[], digits: number) => {
    const { median, min, max } = spreadOf(values)
    return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`
  }
  const ratio = ratios(rates.now, rates.before)
  const met = spreadOf(ratio).median >= GOAL ? 'met' : 'missed'
  console.log(`${machineWords()}; load before: ${load}; ${ROUNDS} rounds of ${MS} ms each`)
  console.log(`${CALLERS} callers, chained with the commit: ${said(rates.before, 0)} writes/s`)
  console.log(`${CALLERS} callers, chained in the background: ${said(rates.now, 0)} writes/s`)
  console.log(`ratio: ${said(ratio, 2)}; goal ≥ ${GOAL}: ${met}`)
  console.log(`the log verifies: ${rows} rows`)
} finally {
  await core.stop()
}

function entryOf(id: string, n: number) {
  return { targets: [{ target_type: 'User', name: 'writer', id }], metadata: { round: n } }
}

/** Writes per second until the last entry is chained. */
async function rateOf(
  ids: readonly string[],
  write: (id: string, n: number) => Promise<void>,
  ms: number,
  settle: () => Promise<void>,
): Promise<number> {
  const beganMs = performance.now()
  let written = 0
  await Promise.all(
    ids.map(async (id) => {
      for (let n = 0; performance.now() - beganMs < ms; n += 1) {
        await write(id, n)
        written += 1
      }
    }),
  )
  await settle()
  return written / ((performance.now() - beganMs) / 1000)
}

/** Creates the function with which each writer chained its own entry. */
async function asBefore(): Promise<void> {
  const text = await readFile(path.join(MIGRATIONS, '0026_write_activity.sql'), 'utf8')
  const owner = new Client(await core.login())
  await owner.connect()
  await owner.query(text.replace('FUNCTION write_activity(', 'FUNCTION write_activity_at_once('))
  await owner.end()
}
