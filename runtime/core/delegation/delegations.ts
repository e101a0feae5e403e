/** Records of delegations. Delegations do not chain: a delegate of a delegate decides nothing. */
import { and, desc, eq, gt, isNull, lte, or } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import { type CoreError, conflict, invalidAt, notFound } from '../../contract/errors/problem.ts'
import {
  type Delegation,
  type DelegationInput,
  MAX_DELEGATION_DAYS,
} from '../../contract/models/delegation.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'
import { type Db, written } from '../../database/database.ts'
import { delegations } from '../../database/schema/delegations.ts'
import { users } from '../../database/schema/people.ts'
import { databaseTime } from '../../database/transactions.ts'
import { toUser, usersOf } from '../directory/users.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { idEquals, isId, rowOfId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { lockCount, requireBelowLimit } from '../kernel/count-limit.ts'
import { mayAct, type Principal, requirePermission } from '../kernel/identity/principal.ts'
import { later } from '../kernel/jobs/retry-schedules.ts'
import { selectPage } from '../kernel/list/page.ts'

type DelegationRow = typeof delegations.$inferSelect
type Query = QueryOf<'list_delegations'>

/** Reports whether a delegation is in force at a given time. */
export const isActive = (
  { since, until, endedAt }: Pick<DelegationRow, 'since' | 'until' | 'endedAt'>,
  now: Date,
): boolean => endedAt === null && since <= now && now < until

/** Lists delegations: all with tasks.read, else those from or to the caller. */
export async function listDelegations(db: Db, principal: Principal, query: Query) {
  const { domainId, userId, permissions } = principal
  const own = or(eq(delegations.userId, userId), eq(delegations.delegateId, userId))
  const where = and(
    eq(delegations.domainId, domainId),
    permissions.has('tasks.read') ? undefined : own,
    idEquals(delegations.userId, query.user_id),
    idEquals(delegations.delegateId, query.delegate_id),
  )
  const order = [desc(delegations.createdAt), desc(delegations.id)]
  return selectPage(db, delegations, { where, order }, query, (rows) => toDelegations(db, rows))
}

/**
 * Creates a delegation, or returns an existing one with the same people, times and reason, so that repeated
 * calls create one.
 *
 * @throws CoreError forbidden, conflict, invalid
 */
export async function createDelegation(
  db: Db,
  principal: Principal,
  body: DelegationInput,
  deps: Pick<CoreContext, 'now'>,
): Promise<Delegation> {
  const row = await db.transaction(async (tx) => {
    const of = (body.user_id ?? principal.userId).toLowerCase()
    if (of !== principal.userId) requirePermission(principal, 'tasks.write')
    const user = await personOf(tx, principal, of, 'user_id')
    const delegate = await personOf(tx, principal, body.delegate_id, 'delegate_id')
    if (user.id === delegate.id) throw refused('delegate_id', 'you cannot be your own delegate')
    const room = { limit: 'delegations', owner: user.id } as const
    await lockCount(tx, room)
    // Read after taking the lock: a delegation created while this call waited is already in force.
    const now = await deps.now(tx)
    const { since, until } = timesOf(body, now)
    const same = await sameOf(tx, user.id, delegate.id, { since, until }, now)
    if (same && same.reason === (body.reason ?? '')) return same
    if (same) throw conflict('This delegation already exists with another reason; end it first')
    await requireBelowLimit(
      tx,
      room,
      () => tx.$count(delegations, notOver(user.id, now)),
      (most) => conflict(`There are already ${most} delegations; end one first`),
    )
    const [made] = await tx
      .insert(delegations)
      .values({
        ...{ domainId: principal.domainId, userId: user.id, delegateId: delegate.id },
        ...{ since, until, reason: body.reason ?? '', createdById: principal.userId },
      })
      .returning()
    const values = { since: since.toISOString(), until: until.toISOString() }
    await record(tx, principal, 'CREATED', written(made), values)
    return written(made)
  })
  const [made] = await toDelegations(db, [row])
  if (!made) throw notFound('Delegation')
  return made
}

/** Returns the start and end of a new delegation. @throws CoreError invalid */
function timesOf(body: DelegationInput, now: Date): { since: Date; until: Date } {
  const wanted = body.since === undefined ? now : parseDatetime(body.since)
  if (wanted === null) throw refused('since', 'this is not a date and time')
  // A delegation cannot start in the past; a past start may come from a client's clock.
  const since = wanted > now ? wanted : now
  const until = parseDatetime(body.until)
  if (until === null || until <= since) throw refused('until', 'this must be in the future')
  if (until > later(since, MAX_DELEGATION_DAYS * 86_400_000))
    throw refused('until', `at most ${MAX_DELEGATION_DAYS} days`)
  return { since, until }
}

const refused = (member: string, words: string): CoreError =>
  invalidAt(['body', member], `Value error, ${words}`)

async function personOf(tx: Db, { domainId }: Principal, id: string, member: string) {
  const [row] = isId(id)
    ? await tx
        .select()
        .from(users)
        .where(and(eq(users.id, id), eq(users.domainId, domainId)))
        .for('key share')
    : []
  if (!row) throw refused(member, 'there is no such user')
  if (!mayAct(row.status)) throw refused(member, `this user is ${row.status}`)
  return row
}

const notOver = (userId: string, now: Date) =>
  and(eq(delegations.userId, userId), isNull(delegations.endedAt), gt(delegations.until, now))

/** Maximum difference between the current times that two transactions read, in milliseconds. */
const SAME_MOMENT_MS = 1000

/** Finds a delegation of the same people and times that is in force or in the future. */
async function sameOf(
  tx: Db,
  userId: string,
  delegateId: string,
  { since, until }: { since: Date; until: Date },
  now: Date,
): Promise<DelegationRow | undefined> {
  const soon = later(now, SAME_MOMENT_MS)
  const begins = since > now ? eq(delegations.since, since) : lte(delegations.since, soon)
  const [row] = await tx
    .select()
    .from(delegations)
    .where(
      and(
        notOver(userId, now),
        eq(delegations.delegateId, delegateId),
        begins,
        eq(delegations.until, until),
      ),
    )
    .limit(1)
  return row
}

/** Ends a delegation immediately. @throws CoreError forbidden, not_found, conflict */
export async function endDelegation(
  db: Db,
  principal: Principal,
  id: string,
  deps: Pick<CoreContext, 'now'>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { userId, permissions } = principal
    const row = await rowOfId(tx, delegations, 'Delegation', principal, id, { lock: 'update' })
    const isOwn = row.userId === userId || row.delegateId === userId
    if (!isOwn && !permissions.has('tasks.read')) throw notFound('Delegation')
    if (!isOwn) requirePermission(principal, 'tasks.write')
    const now = await deps.now(tx)
    if (row.endedAt !== null || row.until <= now) throw conflict('The delegation has already ended')
    await tx.update(delegations).set({ endedAt: now }).where(eq(delegations.id, row.id))
    await record(tx, principal, 'ENDED', row, {})
  })
}

const record = (
  tx: Db,
  principal: Principal,
  what: 'CREATED' | 'ENDED',
  { id, userId, delegateId }: DelegationRow,
  metadata: Record<string, unknown>,
) => {
  const target = { target_type: 'Delegation', name: 'decisions on access requests', id }
  const about = { user_id: userId, delegate_id: delegateId, ...metadata }
  return recordActivity(tx, principal, `DELEGATION_${what}`, [target], about)
}

async function toDelegations(db: Db, rows: readonly DelegationRow[]): Promise<Delegation[]> {
  if (rows.length === 0) return []
  const now = await databaseTime(db)
  const people = await usersOf(db, [
    ...new Set(rows.flatMap(({ userId, delegateId }) => [userId, delegateId])),
  ])
  const byId = new Map(people.map((row) => [row.id, toUser(row)]))
  return rows.map((row) => ({
    id: row.id,
    user: byId.get(row.userId) ?? null,
    delegate: byId.get(row.delegateId) ?? null,
    since: row.since.toISOString(),
    until: row.until.toISOString(),
    reason: row.reason,
    ended_at: row.endedAt?.toISOString() ?? null,
    active: isActive(row, now),
    created_at: row.createdAt.toISOString(),
  }))
}
