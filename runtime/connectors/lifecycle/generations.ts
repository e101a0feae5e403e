/**
 * Generations in the database. Each is an immutable row, written in one transaction with its entry in the
 * activity log, so that a host killed at any point leaves the last one complete.
 */
import { createHash } from 'node:crypto'
import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import {
  ACTION_EVENTS,
  type Action,
  entryOf,
  type Generation,
  type InstalledConnector,
  NOTHING_INSTALLED,
  type Statement,
} from '../../contract/endpoints/generation.ts'
import { conflict } from '../../contract/errors/problem.ts'
import { canonicalJson } from '../../contract/schema/canonical-json.ts'
import { type Doer, recordActivity } from '../../core/kernel/audit/activity.ts'
import type { Db } from '../../database/database.ts'
import { lockUntilEnd } from '../../database/locks.ts'
import { generations, installedStates } from '../../database/schema/lifecycle.ts'
import { users } from '../../database/schema/people.ts'
import { difference } from './difference.ts'

/** Notification channel of hosts. The payload is the number. */
export const CHANNEL = 'keyway_generation'

/** A generation with its statement. Number 0 precedes the first one. */
export type NumberedStatement = { number: number; statement: Statement }

/** Requested change of the installed connectors, and the reason for it. */
export type RequestedChange = {
  action: Action
  reason: string
  /** Newest generation that the operator has seen; null if it does not matter. */
  expected: number | null
  /** Only report the difference. */
  dryRun: boolean
}

/** Result of a change. `number` is the newest generation afterwards. */
export type ChangeOutcome = { number: number; difference: string[]; changed: boolean }

type Row = typeof generations.$inferSelect

/** Reads the newest generation. `known`: states that the caller already has, by digest. */
export async function newest(
  db: Db,
  domainId: string,
  known: ReadonlyMap<string, InstalledConnector> = new Map(),
): Promise<NumberedStatement> {
  const [row] = await db
    .select()
    .from(generations)
    .where(eq(generations.domainId, domainId))
    .orderBy(desc(generations.number))
    .limit(1)
  return row ? stated(db, row, known) : { number: 0, statement: NOTHING_INSTALLED }
}

/** Reads the number of the newest generation. Cheap enough to be polled. */
export async function newestNumber(db: Db, domainId: string): Promise<number> {
  const [row] = await db
    .select({ number: sql<number>`coalesce(max(${generations.number}), 0)` })
    .from(generations)
    .where(eq(generations.domainId, domainId))
  return Number(row?.number ?? 0)
}

/** Reads the statement of an earlier generation, or null if the number is unknown. */
export async function statementOf(
  db: Db,
  domainId: string,
  number: number,
): Promise<Statement | null> {
  if (number === 0) return NOTHING_INSTALLED
  const row = await rowOf(db, domainId, number)
  return row && (await stated(db, row, new Map())).statement
}

async function rowOf(db: Db, domainId: string, number: number): Promise<Row | null> {
  if (!Number.isSafeInteger(number) || number < 1 || number > 2 ** 31 - 1) return null
  const [row] = await db
    .select()
    .from(generations)
    .where(and(eq(generations.domainId, domainId), eq(generations.number, number)))
  return row ?? null
}

async function stated(
  db: Db,
  { number, connectors, publishers }: Row,
  known: ReadonlyMap<string, InstalledConnector>,
): Promise<NumberedStatement> {
  const states = new Map(known)
  const missing = [...new Set(Object.values(connectors))].filter((digest) => !states.has(digest))
  for (let at = 0; at < missing.length; at += 1000) {
    const rows = await db
      .select()
      .from(installedStates)
      .where(inArray(installedStates.digest, missing.slice(at, at + 1000)))
    for (const { digest, state } of rows) {
      states.set(digest, state)
      digests.set(state, digest)
    }
  }
  const all = Object.entries(connectors).map(([key, digest]) => {
    const state = states.get(digest)
    if (!state) throw new Error(`generation ${number} names a state that is not there: ${digest}`)
    return [key, state] as const
  })
  return { number, statement: { connectors: Object.fromEntries(all), publishers } }
}

/**
 * Digests by state object, since states are immutable. Otherwise a thousand connectors would be hashed at
 * each change.
 */
const digests = new WeakMap<InstalledConnector, string>()

/** Returns the digest of a connector's state. */
export function stateDigest(state: InstalledConnector): string {
  const digest =
    digests.get(state) ?? createHash('sha256').update(canonicalJson(state)).digest('hex')
  digests.set(state, digest)
  return digest
}

/**
 * Creates the next generation. `change` gets the newest statement and returns the new one. If they are equal,
 * nothing is written and the newest one is returned.
 *
 * @throws CoreError `conflict` if the newest generation is not `expected`
 */
export async function commit(
  db: Db,
  actor: Doer,
  { action, reason, expected, dryRun }: RequestedChange,
  change: (before: Statement, tx: Db) => Statement | Promise<Statement>,
): Promise<ChangeOutcome> {
  const { domainId, userId } = actor
  return db.transaction(async (tx) => {
    await tx.execute(lockUntilEnd('changing what is installed'))
    const before = await newest(tx, domainId)
    if (expected !== null && expected !== before.number)
      throw conflict(
        `The newest generation is ${before.number}, not ${expected}: what is installed was changed meanwhile; look at it and try again`,
      )
    const statement = await change(before.statement, tx)
    const differences = difference(before.statement, statement)
    if (differences.length === 0 || dryRun)
      return { number: before.number, difference: differences, changed: false }
    const states = Object.entries(statement.connectors).map(
      ([key, state]) => [key, stateDigest(state), state] as const,
    )
    const fresh = states.filter(([key, , state]) => entryOf(before.statement, key) !== state)
    if (fresh.length > 0)
      await tx
        .insert(installedStates)
        .values(fresh.map(([, digest, state]) => ({ digest, state })))
        .onConflictDoNothing()
    const [user] = await tx.select({ email: users.email }).from(users).where(eq(users.id, userId))
    const number = before.number + 1
    const by = user?.email ?? ''
    const connectors = Object.fromEntries(states.map(([key, digest]) => [key, digest]))
    const { publishers } = statement
    await tx.insert(generations).values({
      domainId,
      number,
      userId,
      by,
      action,
      reason,
      connectors,
      publishers,
      difference: differences,
    })
    const target = { target_type: 'Generation', name: `generation ${number}`, id: String(number) }
    await recordActivity(tx, actor, ACTION_EVENTS[action], [target], {
      reason,
      difference: differences.slice(0, 100),
    })
    await tx.execute(sql`select pg_notify(${CHANNEL}, ${String(number)})`)
    return { number, difference: differences, changed: true }
  })
}

/** Lists who changed what and why, newest first. */
export async function listGenerations(
  db: Db,
  domainId: string,
  { limit, before }: { limit: number; before: number | null },
): Promise<Generation[]> {
  const rows = await db
    .select({
      generation: generations.number,
      at: generations.at,
      by: generations.by,
      action: generations.action,
      reason: generations.reason,
      difference: generations.difference,
    })
    .from(generations)
    .where(
      and(
        eq(generations.domainId, domainId),
        before === null ? undefined : sql`${generations.number} < ${before}`,
      ),
    )
    .orderBy(desc(generations.number))
    .limit(limit)
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }))
}
