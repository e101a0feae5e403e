/**
 * Lines of a review: selecting them, and which of them a person may decide. A line is an account, or an
 * entitlement of an account, in `access_review_items`.
 */
import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import {
  type AccessReviewItem,
  HINTS,
  type Hint,
  type ItemState,
} from '../../contract/models/review-item.ts'
import type { ScopeFilter } from '../../contract/models/review-scope.ts'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { groupMembers, users } from '../../database/schema/people.ts'
import {
  accessReviewApps,
  accessReviewAssignments,
  accessReviewCounts,
  accessReviewItems,
  type ItemRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { idEquals } from '../kernel/by-id.ts'
import { groupArrayOf } from '../kernel/identity/app-reach.ts'
import { type Principal, usersWhoMayAct } from '../kernel/identity/principal.ts'
import { type PageQuery, selectPage } from '../kernel/list/page.ts'
import { countOf } from './counts.ts'
import { iso } from './read.ts'
import { findReview } from './rows.ts'
import { inScope } from './scoped-items.ts'
import { containsText, foundByText } from './texts.ts'

type ItemFilter = {
  arda_id?: string | null | undefined
  state?: readonly ItemState[] | undefined
  hint?: readonly Hint[] | undefined
  user_id?: string | null | undefined
  entitlement_id?: string | null | undefined
  search?: string | null | undefined
  scope_filters?: readonly ScopeFilter[] | null | undefined
}

const items = accessReviewItems

/** Tables with the columns that lines and their counts share. */
type Counted = typeof items | typeof accessReviewCounts

/** Condition on the lines, or counts, of a review, in apps that are still in it. */
function inReview(
  { reviewId, reviewAppId, state, hints }: Counted,
  id: string,
  filter: Pick<ItemFilter, 'arda_id' | 'state' | 'hint'>,
): SQL | undefined {
  const { arda_id, state: states = [], hint = [] } = filter
  return and(
    eq(reviewId, id),
    sql`${reviewAppId} in (select ${accessReviewApps.id} from ${accessReviewApps}
      where ${accessReviewApps.reviewId} = ${id} and ${accessReviewApps.status} <> 'DELETED')`,
    idEquals(reviewAppId, arda_id),
    states.length > 0 ? inArray(state, [...states]) : undefined,
    hint.length > 0 ? sql`${hints} && ${sql.param([...hint])}::text[]` : undefined,
  )
}

/** Condition on the lines of a review that a filter selects, in apps that are still in it. */
export function itemsCondition(
  review: Pick<ReviewRow, 'id' | 'domainId'>,
  filter: ItemFilter,
): SQL | undefined {
  const { user_id, entitlement_id, search, scope_filters } = filter
  return and(
    inReview(items, review.id, filter),
    idEquals(items.userId, user_id),
    entitlement_id
      ? and(
          sql`md5(${items.externalId}) = md5(${entitlement_id}::text)`,
          eq(items.externalId, entitlement_id),
        )
      : undefined,
    search ? containsText(search) : undefined,
    inScope(review, scope_filters),
  )
}

/** Query for the number of lines that a filter selects, if the counts suffice to compute it. */
const countedBy = (id: string, filter: ItemFilter): SQL | undefined =>
  filter.user_id || filter.entitlement_id || filter.search || filter.scope_filters?.length
    ? undefined
    : countOf(inReview(accessReviewCounts, id, filter))

/** Returns the number of lines of a review by state, without reading them. @throws CoreError not_found */
export async function itemStates(
  db: Db,
  principal: Principal,
  id: string,
): Promise<Partial<Record<ItemRow['state'], number>>> {
  const review = await findReview(db, principal, id)
  const { state, n } = accessReviewCounts
  const rows = await db
    .select({ state, n: sql<number>`sum(${n})::int` })
    .from(accessReviewCounts)
    .where(inReview(accessReviewCounts, review.id, {}))
    .groupBy(state)
  return Object.fromEntries(rows.filter((one) => one.n > 0).map((one) => [one.state, one.n]))
}

/**
 * Condition on lines that a user may decide. Excludes their own lines, and confirming lines they kept. As a
 * member of a group, also excludes access they helped to grant, as long as another member can decide.
 */
export function decidableBy(userId: string): SQL {
  const { id, userIds, groupIds } = accessReviewAssignments
  const another = sql`exists (select from ${groupMembers}
    join ${users} on ${users.id} = ${groupMembers.userId}
    where ${groupMembers.groupId} = any(${groupIds}) and ${usersWhoMayAct(users)}
      and ${users.id} is distinct from ${items.userId} and ${users.id} is distinct from ${items.keptById}
      and ${users.id} <> all(${items.involved}))`
  return sql`${items.userId} is distinct from ${userId}::uuid and ${items.keptById} is distinct from ${userId}::uuid and exists (
    select from ${accessReviewAssignments} where ${id} = ${items.assignmentId} and (
      ${userIds} @> array[${userId}]::uuid[]
      or ${groupIds} && ${groupArrayOf(userId)}
        and (${userId}::uuid <> all(${items.involved}) or not ${another})))`
}

/**
 * Lists all lines with reviews.read, else those of the caller.
 *
 * @throws CoreError `bad_request` for an invalid filter, `not_found`
 */
export async function listItems(
  db: Db,
  principal: Principal,
  id: string,
  query: PageQuery & ItemFilter & { mine: boolean },
) {
  const review = await findReview(db, principal, id)
  const mine = query.mine || !principal.permissions.has('reviews.read')
  const list = {
    where: and(itemsCondition(review, query), mine ? decidableBy(principal.userId) : undefined),
    order: [asc(items.place)],
    total: mine ? undefined : countedBy(review.id, query),
    narrowed: (tx: Db) => foundByText(tx, review.id, query.search),
  }
  return selectPage(db, items, list, query, (rows) => toItems(db, rows))
}

const reviewersByIds = prepared('reviewers by ids', (db) => {
  const { id, userIds, groupIds } = accessReviewAssignments
  return db
    .select({ id, userIds, groupIds })
    .from(accessReviewAssignments)
    .where(sql`${id} = any(${sql.placeholder('ids')}::uuid[])`)
})

/** Converts lines to their wire format, in order, with their reviewers. */
export async function toItems(db: Db, rows: readonly ItemRow[]): Promise<AccessReviewItem[]> {
  const ids = [
    ...new Set(rows.flatMap(({ assignmentId }) => (assignmentId === null ? [] : [assignmentId]))),
  ]
  const assigned = ids.length === 0 ? [] : await reviewersByIds(db, { ids })
  const byId = new Map(assigned.map((one) => [one.id, one]))
  return rows.map((row) => toItem(row, byId.get(row.assignmentId ?? '')))
}

/** Converts a line to its wire format. */
export function toItem(
  row: ItemRow,
  reviewers: { userIds: string[]; groupIds: string[] } | undefined,
): AccessReviewItem {
  return {
    id: row.id,
    arda_id: row.reviewAppId,
    app_id: row.appId,
    state: row.state,
    account_id: row.accountId,
    unique_identifier: row.account,
    account_type: row.accountType,
    account_status: row.accountStatus,
    account_email: row.accountEmail,
    user_id: row.userId,
    user_email: row.userEmail,
    user_name: row.userName,
    entitlement_type: row.entitlementType,
    entitlement_id: row.externalId,
    resource_id: row.resourceId,
    label: row.label,
    held_since: iso(row.heldSince),
    last_login: iso(row.lastLogin),
    last_activity: iso(row.lastActivity),
    reasons: row.reasons,
    hints: row.hints.map((name) => ({ name, red: HINTS[name].red })),
    peers:
      row.peersHeld === null || row.peersOf === null
        ? null
        : { held: row.peersHeld, of: row.peersOf },
    reviewer_user_ids: reviewers?.userIds ?? [],
    reviewer_group_ids: reviewers?.groupIds ?? [],
    reason: row.reason,
    decided_by_id: row.decidedById,
    decided_at: iso(row.decidedAt),
    kept_by_id: row.keptById,
    act_id: row.actId,
    problem: row.problem,
    gone_at: iso(row.goneAt),
    gone_run: row.goneRun,
  }
}
