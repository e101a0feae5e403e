/**
 * Personal values of the log. They are stored outside the chain, which holds a salted commitment in place of
 * each. A person can therefore be erased while the chain still verifies. Personal values are the actor, users
 * as targets, and every text that contains an e-mail address. A commitment reveals nothing without its salt
 * and value.
 */

import { createHmac, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { canonicalJson } from '../../../contract/schema/canonical-json.ts'
import { isObject } from '../../../contract/schema/record.ts'
import type { Db } from '../../../database/database.ts'
import { type activityLogs, activityPersonal } from '../../../database/schema/audit.ts'

/** Parts of an entry that may hold personal values. */
type Told = Pick<typeof activityLogs.$inferSelect, 'actor' | 'targets' | 'metadata'>

/** A value with its commitment. `userId` is null if its owner is unknown. */
export type PersonalValue = {
  commitment: string
  userId: string | null
  salt: Buffer
  value: unknown
}

/** Name of the member that holds a commitment in the chain. */
const MARK = '$personal'
const SALT_BYTES = 32
const ADDRESS = /[^\s@]@[^\s@]/
/** Replacement for a target or a text whose person was erased. */
const ERASED = 'erased'
const ERASED_ACTOR = { email: '', given_name: '', family_name: '' }

/** Returns the commitment to a value, 64 hex digits: HMAC-SHA256 of its canonical JSON, keyed by the salt. */
export const commitmentOf = (salt: Buffer, value: unknown): string =>
  createHmac('sha256', salt).update(canonicalJson(value)).digest('hex')

/**
 * Splits an entry into the form that is chained and the personal values that are stored separately.
 *
 * @param userId the actor, or null if unknown
 */
export function separate(
  { actor, targets, metadata }: Told,
  userId: string | null,
): Told & { values: PersonalValue[] } {
  const values: PersonalValue[] = []
  const commit = (value: unknown, owner: string | null) => {
    const salt = randomBytes(SALT_BYTES)
    const commitment = commitmentOf(salt, value)
    values.push({ commitment, userId: owner, salt, value })
    return { [MARK]: commitment }
  }
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return ADDRESS.test(value) ? commit(value, null) : value
    if (Array.isArray(value)) return value.map(walk)
    if (!isObject(value)) return value
    // An object that only looks like a commitment is itself replaced by one.
    return MARK in value ? commit(value, null) : mapMembers(value, walk)
  }
  const { actor_type, ...who } = actor
  const isPerson = typeof who['email'] === 'string' && who['email'] !== ''
  return {
    actor: isPerson ? { actor_type, ...(userId && { id: userId }), ...commit(who, userId) } : actor,
    targets: targets.map((target) => {
      const { target_type, name, id } = target
      const isUser = target_type === 'User' && typeof id === 'string' && name !== ''
      return isUser ? { ...target, name: commit(name, id) } : mapMembers(target, walk)
    }),
    metadata: mapMembers(metadata, walk),
    values,
  }
}

/** Puts the personal values back into entries. An erased value is shown as such. */
export async function withPersonalValues<R extends Told>(db: Db, rows: readonly R[]): Promise<R[]> {
  const kept = new Map((await personalValuesOf(db, rows)).map((one) => [one.commitment, one.value]))
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill)
    if (!isObject(value)) return value
    const commitment = value[MARK]
    if (typeof commitment === 'string') return kept.get(commitment) ?? ERASED
    return mapMembers(value, fill)
  }
  return rows.map((row) => ({
    ...row,
    actor: filledActor(row.actor, kept),
    targets: row.targets.map((target) => mapMembers(target, fill)),
    metadata: mapMembers(row.metadata, fill),
  }))
}

function filledActor(actor: Told['actor'], kept: ReadonlyMap<string, unknown>): Told['actor'] {
  const { [MARK]: commitment, ...known } = actor
  if (typeof commitment !== 'string') return actor
  const who = kept.get(commitment)
  return { actor_type: known['actor_type'], ...(isObject(who) ? who : ERASED_ACTOR) }
}

/** Reads the values that entries commit to, except erased ones. */
export async function personalValuesOf(db: Db, rows: readonly Told[]): Promise<PersonalValue[]> {
  const commitments = commitmentsIn(rows)
  if (commitments.length === 0) return []
  return db
    .select()
    .from(activityPersonal)
    .where(sql`${activityPersonal.commitment} = any(${sql.param(commitments)}::text[])`)
}

/** Returns every commitment in the entries. */
export function commitmentsIn(rows: readonly Told[]): string[] {
  const found: string[] = []
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) walk(one)
    else if (isObject(value)) {
      const commitment = value[MARK]
      if (typeof commitment === 'string') found.push(commitment)
      else for (const one of Object.values(value)) walk(one)
    }
  }
  for (const { actor, targets, metadata } of rows) walk([actor, targets, metadata])
  return found
}

const mapMembers = (
  record: Readonly<Record<string, unknown>>,
  change: (value: unknown) => unknown,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
