/** The activity log. Every change is recorded in the transaction that makes it. */

import { and, asc, desc, eq, gte, lte, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { escapeLiteral } from 'pg'
import type { QueryOf } from '../../../contract/endpoints/table.ts'
import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
import { canonicalJson } from '../../../contract/schema/canonical-json.ts'
import { type Db, one } from '../../../database/database.ts'
import { deferToCommit } from '../../../database/deferred-writes.ts'
import { activityLogs, activityTurns } from '../../../database/schema/audit.ts'
import { users } from '../../../database/schema/people.ts'
import type { Principal, Profile } from '../identity/principal.ts'
import { selectSlice } from '../list/page.ts'
import { isWalk } from '../list/walk.ts'
import { bodyOf } from './entry-hash.ts'
import { actorIs, targetIs } from './person-filter.ts'
import { type PersonalValue, separate, withPersonalValues } from './personal.ts'
import { chainWaiting } from './unchained-entries.ts'

export type Target = { target_type: string; name: string; id: string }

/** A user who does something. */
export type Doer = Pick<Principal, 'domainId' | 'userId'>

/** Originator of an action: a user, or the host itself if `userId` is null. */
export type Actor = Pick<Principal, 'domainId' | 'profile'> & { userId: string | null }

export type ActivityOutcome = 'Succeeded' | 'Failed'

/**
 * Records an action of the caller, or a failed attempt. The entry is written when the transaction commits,
 * and chained to earlier entries later (unchained-entries.ts), so that writers do not wait for each other. Its personal
 * values are stored separately (personal.ts).
 */
export async function recordActivity(
  tx: Db,
  { domainId, userId, profile }: Actor,
  eventType: ActivityEvent,
  targets: Target[],
  metadata: Record<string, unknown>,
  outcome: ActivityOutcome = 'Succeeded',
): Promise<void> {
  const user = profile?.userId === userId ? profile : await profileOf(tx, userId)
  const actor = {
    actor_type: userId === null ? 'Lumos system' : 'Lumos user',
    email: user?.email ?? '',
    given_name: user?.givenName ?? '',
    family_name: user?.familyName ?? '',
  }
  const { values, ...told } = separate({ actor, targets, metadata }, userId)
  await writeAtEnd(tx, {
    domainId,
    body: bodyOf({ domainId, eventType, outcome, ...told }),
    values,
  })
}

async function profileOf(tx: Db, userId: string | null): Promise<Omit<Profile, 'userId'> | null> {
  if (userId === null) return null
  const { email, givenName, familyName } = users
  const [row] = await tx
    .select({ email, givenName, familyName })
    .from(users)
    .where(eq(users.id, userId))
  return row ?? null
}

type NewRow = { domainId: string; body: string; values: readonly PersonalValue[] }

function writeRows(rows: readonly NewRow[]): string[] {
  const entries = rows.map(({ domainId, body }) => tuple([domainId, body]))
  const personal = rows.flatMap(({ domainId, values }) =>
    values.map(({ commitment, userId, salt, value }) =>
      tuple([commitment, domainId, userId, `\\x${salt.toString('hex')}`, canonicalJson(value)]),
    ),
  )
  return [
    ...(personal.length === 0 ? [] : [`${ADD_PERSONAL} values ${personal.join(', ')}`]),
    `insert into activity_waiting (domain_id, body) values ${entries.join(', ')}`,
  ]
}

const ADD_PERSONAL = 'insert into activity_personal (commitment, domain_id, user_id, salt, value)'

const tuple = (values: readonly (string | null)[]): string =>
  `(${values.map((one) => (one === null ? 'null' : escapeLiteral(one))).join(', ')})`

const writeAtEnd = deferToCommit(writeRows)

type LogQuery = QueryOf<'list_activity_logs'>

/**
 * Lists the log in the order of the chain, oldest first, with everything committed before the call. A reader
 * that resumes by `offset`, or with the time of the last entry as `since`, misses nothing, even if the
 * database clock was set back in between. If retention removes entries, an `offset` counts from the oldest
 * remaining entry, so only `since` resumes correctly.
 */
export async function listActivity(
  db: Db,
  { domainId }: Pick<Principal, 'domainId'>,
  query: LogQuery,
) {
  const { since, until, newest_first: newestFirst, event_type: eventType, limit, offset } = query
  if (!isWalk(db)) await chainWaiting(db, domainId)
  const then = since === null ? null : await sinceThen(db, domainId, since)
  const where = and(
    eq(activityLogs.domainId, domainId),
    then?.where,
    until === null ? undefined : lte(activityLogs.beganAt, until),
    eventType === null ? undefined : eq(activityLogs.eventType, eventType),
    query.actor === null ? undefined : await actorIs(db, domainId, query.actor),
    query.target === null ? undefined : await targetIs(db, domainId, query.target),
  )
  const order = (then?.order ?? [activityLogs.id]).map(newestFirst ? desc : asc)
  const { rows, total } = await selectSlice(db, activityLogs, { where, order }, { limit, offset })
  return {
    items: (await withPersonalValues(db, rows)).map(toLog),
    total,
    limit,
    offset,
    links: linksOf(query, total),
  }
}

type Since = { where: SQL | undefined; order: PgColumn[] }

/**
 * Selects the entries from `since` on, and all entries chained after the first of those: the clock may have
 * been set back between them. If it was not, an index holds the entries in the order of the chain.
 */
async function sinceThen(db: Db, domainId: string, since: Date): Promise<Since> {
  const { id, beganAt } = activityLogs
  const later = gte(beganAt, since)
  const ofDomain = eq(activityLogs.domainId, domainId)
  const { rows } = await db.execute<{ last: string | null; turned: boolean }>(sql`
    select (select max(id) from ${activityLogs} where ${ofDomain})::text as last,
      exists (select from ${activityTurns}
        where ${activityTurns.domainId} = ${domainId} and ${activityTurns.beganAt} >= ${since}) as turned`)
  const { last, turned } = one(rows)
  // Entries that are chained after this query may have an earlier time. The id is passed as text, because the
  // key of a remembered list is made from its parameters as JSON.
  if (!turned) return { where: and(later, sql`${id} <= ${last}::bigint`), order: [beganAt, id] }
  const [first] = await db
    .select({ id })
    .from(activityLogs)
    .where(and(ofDomain, later))
    .orderBy(asc(beganAt), asc(id))
    .limit(1)
  return {
    where: first ? or(later, sql`${id} > ${String(first.id)}::bigint`) : later,
    order: [id],
  }
}

/** Returns the words for a type of event: `APP_CREATED` becomes `App created`. */
export function displayNameOf(eventType: string): string {
  const words = eventType.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function toLog(row: typeof activityLogs.$inferSelect) {
  return {
    event_hash: row.eventHash,
    event_type: row.eventType,
    event_type_user_friendly: displayNameOf(row.eventType),
    outcome: row.outcome,
    targets: row.targets,
    actor: row.actor,
    event_began_at: row.beganAt.toISOString().replace('Z', ''),
    event_metadata: row.metadata,
  }
}

/**
 * Returns relative links that keep the filters. Clients put their own base URL in front (core-interface.md
 * section 3).
 */
function linksOf(
  { since, until, newest_first, event_type, actor, target, limit, offset }: LogQuery,
  total: number,
) {
  const at = (start: number): string => {
    const query = new URLSearchParams()
    if (since) query.set('since', since.toISOString())
    if (until) query.set('until', until.toISOString())
    if (newest_first) query.set('newest_first', 'true')
    if (event_type) query.set('event_type', event_type)
    if (actor) query.set('actor', actor)
    if (target) query.set('target', target)
    query.set('limit', String(limit))
    query.set('offset', String(start))
    return `/activity_logs?${query}`
  }
  const last = Math.max(0, Math.ceil(total / limit) - 1) * limit
  return {
    first: at(0),
    last: at(last),
    self: at(offset),
    next: offset + limit < total ? at(offset + limit) : null,
    prev: offset > 0 ? at(Math.max(0, offset - limit)) : null,
  }
}
