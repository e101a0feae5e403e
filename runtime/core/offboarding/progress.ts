/** Progress of offboardings, and previews of their effect. Changes nothing. */
import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import { conflict } from '../../contract/errors/problem.ts'
import type { OffboardingProgress } from '../../contract/models/user-offboarding.ts'
import type { Db } from '../../database/database.ts'
import { offboardingSteps, userOffboardings } from '../../database/schema/offboarding.ts'
import { requireRemainingAdmin } from '../directory/admins.ts'
import { idEquals } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { selectPage } from '../kernel/list/page.ts'
import { knownAccounts } from './accounts.ts'
import { findLeaver, toOffboarding } from './offboardings.ts'
import { openRequests, requireNotLeft } from './remaining-access.ts'

/** Lists the offboardings of the caller's domain, or of one user, newest first. */
export async function listOffboardings(
  db: Db,
  { domainId }: Principal,
  { user_id: userId, ...paging }: QueryOf<'list_user_offboardings'>,
) {
  const where = and(
    eq(userOffboardings.domainId, domainId),
    idEquals(userOffboardings.userId, userId),
  )
  const order = [desc(userOffboardings.createdAt), desc(userOffboardings.id)]
  return selectPage(db, userOffboardings, { where, order }, paging, async (rows) => {
    const ids = rows.map(({ id }) => id)
    const counts = await countSteps(db, ids)
    return rows.map(
      (row): OffboardingProgress => ({
        ...toOffboarding(row),
        problem: row.problem,
        accounts: counts.get(row.id) ?? { all: 0, done: 0, by_hand: 0, left: 0 },
      }),
    )
  })
}

async function countSteps(db: Db, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, OffboardingProgress['accounts']>()
  const of = offboardingSteps
  const rows = await db
    .select({
      id: of.offboardingId,
      all: sql<number>`count(*)::int`,
      done: sql<number>`(count(*) filter (where ${of.state} = 'done'))::int`,
      by_hand: sql<number>`(count(*) filter (where ${of.state} in ('told', 'manual')))::int`,
      left: sql<number>`(count(*) filter (where ${of.state} = 'left'))::int`,
    })
    .from(of)
    .where(inArray(of.offboardingId, [...ids]))
    .groupBy(of.offboardingId)
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}

/**
 * Counts the accounts and requests that an offboarding of a user would take.
 *
 * @throws CoreError `bad_request`, `not_found`, `conflict`, as starting the offboarding would
 */
export async function offboardingPreview(db: Db, principal: Principal, userId: string) {
  const user = await findLeaver(db, principal, userId)
  const { items } = await listOffboardings(db, principal, { user_id: user.id, page: 1, size: 1 })
  if (items.some(({ status }) => status === 'SCHEDULED' || status === 'IN_PROGRESS'))
    throw conflict('An offboarding of this user is already scheduled or in progress')
  await requireNotLeft(db, user)
  await db.transaction((tx) => requireRemainingAdmin(tx, principal.domainId, new Set([user.id])))
  const { rows } = await db.execute<{ accounts: number }>(
    sql`select count(*)::int as accounts from (${knownAccounts(user.id)}) as known`,
  )
  return { accounts: rows[0]?.accounts ?? 0, requests: await openRequests(db, user.id) }
}
