/**
 * Decides lines in one act, selected by their ids or by a filter. Decided lines are left unchanged unless the
 * caller asks to change them, so that of two concurrent reviewers the second one learns of the first.
 */
import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { badRequest, conflict, forbidden } from '../../contract/errors/problem.ts'
import {
  type DecideInput,
  HINT_NAMES,
  HINTS,
  type ItemState,
} from '../../contract/models/review-item.ts'
import type { Db } from '../../database/database.ts'
import {
  accessReviewActs,
  accessReviewApps,
  accessReviewItems,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { isId } from '../kernel/by-id.ts'
import { hasRow } from '../kernel/has-row.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { longStatements } from '../sync/runs.ts'
import { askToConfirm } from './confirm.ts'
import { foldCounts } from './counts.ts'
import { decidableBy, itemsCondition } from './items.ts'
import { DECIDED, itemStatesBefore, UNDECIDED, UNDECIDED_STATES } from './machine/states.ts'
import { closeAnswered } from './reviewer-tasks.ts'
import { findReview, noteReview } from './rows.ts'
import { foundByText } from './texts.ts'

/** Number of lines of one act above which it counts as a bulk decision. */
export const BULK = 20

/** Hints that require a reason when a line is kept. */
const RED = HINT_NAMES.filter((name) => HINTS[name].red)

const items = accessReviewItems

type Result = { item_id: string; state: ItemState | null; error: string | null }

/**
 * Decides lines.
 *
 * @throws CoreError `bad_request` without a required reason, `forbidden`, `not_found`, `conflict` if the
 * review is not under way
 */
export async function decideItems(db: Db, principal: Principal, id: string, body: DecideInput) {
  const { changed: _changed, ...done } = await decideAndCount(db, principal, id, body)
  return done
}

/** Like `decideItems`. `changed` is the number of lines that had been decided before. */
export async function decideAndCount(db: Db, principal: Principal, id: string, body: DecideInput) {
  const { decision, change, item_ids, filter } = body
  const reason = body.reason?.trim() || null
  if ((item_ids === undefined) === (filter === undefined) || item_ids?.length === 0)
    throw badRequest('Name the lines, either by item_ids or by a filter')
  if (decision !== 'KEEP' && reason === null)
    throw badRequest(`A reason is needed to ${decision.toLowerCase()}`)
  const done = await db.transaction(async (tx) => {
    const review = await findReview(tx, principal, id)
    requireUnderWay(review)
    const confirms = decision === 'KEEP' && review.secondReviewers !== null
    const reviewApps = await openApps(tx, review, confirms)
    const ids = [...new Set((item_ids ?? []).map((one) => one.toLowerCase()).filter(isId))]
    const chosen = and(
      itemsCondition(review, filter ?? {}),
      await foundByText(tx, review.id, filter?.search),
      item_ids === undefined ? undefined : inArray(items.id, ids),
      decidableBy(principal.userId),
      inArray(items.reviewAppId, reviewApps),
      inArray(items.state, change ? itemStatesBefore(DECIDED[decision]) : [...UNDECIDED]),
    )
    const act = { decision, reason, filter: filter ?? null, userId: principal.userId }
    const made = await decideMatching(tx, review, act, chosen)
    if (reason === null && made.count > BULK)
      throw badRequest(`These are ${made.count} lines; more than ${BULK} at once need a reason`)
    if (reason === null && made.red)
      throw badRequest(`A reason is needed to keep a line with one of the hints ${RED.join(', ')}`)
    if (made.count === 0) await requireReviewer(tx, principal, review)
    if (made.actId !== null) {
      if (decision === 'KEEP') await askToConfirm(tx, review, reviewApps)
      for (const reviewAppId of reviewApps) await closeAnswered(tx, reviewAppId)
      await noteReview(tx, principal, review, 'DECIDED', {
        ...{ act_id: made.actId, decision, items: made.count },
        by_filter: filter !== undefined,
      })
    }
    const results =
      item_ids === undefined ? [] : await resultsOf(tx, review, principal, body, made.actId)
    return { act_id: made.actId, decided: made.count, changed: made.changed, results }
  })
  await foldCounts(db, id)
  return done
}

/** Requires that the caller reviews a line of the review. @throws CoreError forbidden */
async function requireReviewer(tx: Db, { userId }: Principal, review: ReviewRow): Promise<void> {
  const reviews = await hasRow(tx, items, itemsCondition(review, {}), decidableBy(userId))
  if (!reviews) throw forbidden('You are not a reviewer of any line of this access review')
}

/** Requires that a review is under way. @throws CoreError conflict */
export function requireUnderWay({ status }: ReviewRow): void {
  if (
    status === 'IN_PROGRESS' ||
    status === 'IN_PREPARATION' ||
    status === 'SCHEDULED_IN_PREPARATION'
  )
    return
  throw conflict(`The access review is ${status}; nothing can be decided`)
}

/**
 * Returns the apps whose lines can be decided, and locks them in that state until the transaction ends. Acts
 * that may require confirmations exclude each other: together they would ask the same people twice.
 */
async function openApps(tx: Db, { id }: ReviewRow, alone: boolean): Promise<string[]> {
  const rows = await tx
    .select({ id: accessReviewApps.id })
    .from(accessReviewApps)
    .where(
      and(
        eq(accessReviewApps.reviewId, id),
        eq(accessReviewApps.status, 'IN_PROGRESS'),
        isNull(accessReviewApps.removalAt),
      ),
    )
    .orderBy(accessReviewApps.id)
    .for(alone ? 'no key update' : 'share')
  return rows.map((row) => row.id)
}

/** Condition that keeping a line requires confirmation by another person. */
const needsSecond: SQL = sql`(${items.hints} && ${sql.param(RED)}::text[] and ${items.keptById} is null
  and exists (select from ${accessReviewApps} where ${accessReviewApps.id} = ${items.reviewAppId}
    and ${accessReviewApps.secondReviewers} is not null))`

type Act = Pick<typeof accessReviewActs.$inferInsert, 'decision' | 'reason' | 'filter' | 'userId'>

/** Decides the lines that meet a condition. Locks them in the order of their ids, to prevent deadlocks. */
export async function decideMatching(
  tx: Db,
  { id: reviewId, domainId }: ReviewRow,
  act: Act,
  chosen: SQL | undefined,
): Promise<{ actId: string | null; count: number; changed: number; red: boolean }> {
  await tx.execute(longStatements)
  const [made] = await tx
    .insert(accessReviewActs)
    .values({ ...act, domainId, reviewId, items: 0 })
    .returning({ id: accessReviewActs.id })
  const actId = made?.id ?? ''
  const { rows } = await tx.execute<{ n: string; changed: string; red: boolean | null }>(sql`
    with chosen as (
      select ${items.id}, ${act.decision === 'KEEP' ? needsSecond : sql`false`} as confirms,
        ${items.state} not in (${UNDECIDED_STATES}) as was_decided
      from ${items} where ${chosen} order by ${items.id} for update
    ), decided as (
      update access_review_items i set act_id = ${actId},
        state = case when confirms then 'TO_CONFIRM' else ${DECIDED[act.decision]} end,
        kept_by_id = case when confirms then ${act.userId ?? null}::uuid else kept_by_id end,
        assignment_id = case when confirms then null else assignment_id end,
        reason = ${act.reason ?? null}, decided_by_id = ${act.userId ?? null}, decided_at = now(), updated_at = now()
      from chosen where i.id = chosen.id returning i.id, i.hints, chosen.was_decided
    ), noted as (
      insert into access_review_decisions (act_id, item_id) select ${actId}::uuid, id from decided
    )
    select count(*) as n, count(*) filter (where was_decided) as changed, bool_or(hints && ${sql.param(RED)}::text[]) as red from decided`)
  const count = Number(rows[0]?.n ?? 0)
  if (count === 0) await tx.delete(accessReviewActs).where(eq(accessReviewActs.id, actId))
  else await tx.update(accessReviewActs).set({ items: count }).where(eq(accessReviewActs.id, actId))
  const changed = Number(rows[0]?.changed ?? 0)
  return { actId: count === 0 ? null : actId, count, changed, red: rows[0]?.red ?? false }
}

/** Returns the result for each named line, in their order. */
async function resultsOf(
  tx: Db,
  review: ReviewRow,
  { userId }: Principal,
  { item_ids = [], change, decision }: DecideInput,
  actId: string | null,
): Promise<Result[]> {
  const ids = item_ids.map((one) => one.toLowerCase()).filter(isId)
  const rows = await tx
    .select({
      id: items.id,
      state: items.state,
      actId: items.actId,
      mine: sql<boolean>`${decidableBy(userId)}`,
    })
    .from(items)
    .where(and(itemsCondition(review, {}), inArray(items.id, ids)))
  const byId = new Map(rows.map((row) => [row.id, row]))
  const changeable = itemStatesBefore(DECIDED[decision])
  return item_ids.map((item_id) => {
    const row = byId.get(item_id.toLowerCase())
    // A caller who neither reviews the line nor may read reviews learns nothing about it.
    if (row && actId !== null && row.actId === actId)
      return { item_id, state: row.state, error: null }
    if (!row?.mine)
      return { item_id, state: null, error: 'there is no such line for you to review' }
    const isOpen = UNDECIDED.some((one) => one === row.state)
    const error = isOpen
      ? 'decisions for its app have ended'
      : `it is already ${row.state}${!change && changeable.includes(row.state) ? '; send change: true to decide otherwise' : ''}`
    return { item_id, state: row.state, error }
  })
}
