/** Assigning the lines of an app. Reviewers are chosen once per person (`reviewersOf`), and get one task. */

import { and, eq, inArray, isNull, not, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { groupMembers, users } from '../../database/schema/people.ts'
import {
  accessReviewAssignments,
  accessReviewItems,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { ACTIONABLE_STATES } from '../../database/schema/tasks.ts'
import { adminIds } from '../directory/admins.ts'
import { idsOf } from '../kernel/by-id.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'
import { UNDECIDED } from './machine/states.ts'
import { previousTeamsOf } from './previous-reviewers.ts'
import { askReviewers } from './reviewer-tasks.ts'
import {
  type PeopleById,
  type ReviewerKind,
  type Reviewers,
  reviewersOf,
  type Sources,
  type Subject,
  type Team,
  uninvolvedOf,
} from './reviewers.ts'

/** Maximum number of members of a group that are read: more than can be excluded. */
const MAX_MEMBERS = 1000
/** Number of people whose lines are written at once. */
const BATCH = 20_000
const WRITTEN = sql`access_review_items`
const { userId, involved, keptById } = accessReviewItems
/** Stands for no person, because joins compare with `=`, not with `is not distinct from`. */
const NOBODY = sql`'00000000-0000-0000-0000-000000000000'::uuid`

type Assigning = {
  review: ReviewRow
  reviewApp: ReviewAppRow
  kind: ReviewerKind
  /** Condition on the lines of the app. */
  which: SQL
  /** Table of the lines, aliased as access_review_items. */
  lines?: SQL
  /** Reason recorded in place of the one that `reviewersOf` gives. */
  why?: string
  /** Ids of existing assignments, by `assignmentKey`. */
  made?: Map<string, string>
}

/** Assigns lines, and opens the tasks of their reviewers. */
export async function assign(tx: Db, assigning: Assigning): Promise<void> {
  await assignLines(tx, assigning)
  await askReviewers(tx, assigning.review, assigning.reviewApp)
}

/** Assigns lines without opening tasks. */
export async function assignLines(
  tx: Db,
  { review, reviewApp, kind, which, lines = WRITTEN, why, made = new Map() }: Assigning,
): Promise<void> {
  const mine = and(eq(accessReviewItems.reviewAppId, reviewApp.id), which)
  const { rows: subjects } = await tx.execute<Subject>(sql`
    select distinct ${userId} as "userId", ${involved}, ${keptById} as "keptById" from ${lines} where ${mine}`)
  if (subjects.length === 0) return
  const sources = await sourcesOf(tx, review, reviewApp, kind, subjects)
  let batch: object[] = []
  const write = async () => {
    await tx.execute(sql`
      update ${lines} set assignment_id = b.assigned
      from jsonb_to_recordset(${JSON.stringify(batch)}::jsonb)
        as b (of_user uuid, of_involved uuid[], of_keeper uuid, assigned uuid)
      where ${mine} and coalesce(${userId}, ${NOBODY}) = coalesce(b.of_user, ${NOBODY})
        and ${involved} = b.of_involved and coalesce(${keptById}, ${NOBODY}) = coalesce(b.of_keeper, ${NOBODY})`)
    batch = []
  }
  for (const subject of subjects) {
    const found = reviewersOf(kind, subject, sources)
    const hasReviewers = found.users.length + found.groups.length > 0
    const said = why !== undefined && hasReviewers ? { ...found, why } : found
    const assignment = await assignmentOf(tx, reviewApp, said, null, made)
    // Do not use column names of lines: the condition may contain them without a table.
    batch.push({
      ...{ of_user: subject.userId, of_involved: subject.involved, of_keeper: subject.keptById },
      assigned: assignment,
    })
    if (batch.length >= BATCH) await write()
  }
  await write()
}

/** Reports whether anyone who was not involved in granting a line can review it. */
export async function hasUninvolved(
  tx: Db,
  review: ReviewRow,
  reviewApp: ReviewAppRow,
  line: Subject,
): Promise<boolean> {
  const sources = await sourcesOf(tx, review, reviewApp, review.reviewers, [line])
  return uninvolvedOf(review.reviewers, line, sources) !== null
}

/** Returns the key of an assignment within its app. */
const assignmentKey = (users: readonly string[], groups: readonly string[], why: string): string =>
  JSON.stringify([users, groups, why])

/** Returns the ids of the assignments that meet a condition, by `assignmentKey`. */
export async function assignmentsMade(
  tx: Db,
  which: SQL | undefined,
): Promise<Map<string, string>> {
  const of = accessReviewAssignments
  const rows = await tx.select().from(of).where(which).orderBy(of.id)
  return new Map(rows.map((row) => [assignmentKey(row.userIds, row.groupIds, row.why), row.id]))
}

/** Condition that the task of an assignment is open. */
export const HAS_OPEN_TASK = sql`exists (select from tasks t
  where t.id = ${accessReviewAssignments.taskId} and t.status in (${ACTIONABLE_STATES}))`

/** Detaches closed tasks from the assignments that meet a condition, so that a new task is opened. */
export async function detachClosedTasks(tx: Db, which: SQL | undefined): Promise<void> {
  await tx
    .update(accessReviewAssignments)
    .set({ taskId: null })
    .where(and(which, not(HAS_OPEN_TASK)))
}

/**
 * Returns the assignments that an app has for a reason, and those without reviewers. People whose task has
 * closed get a new one.
 */
export async function askedBefore(
  tx: Db,
  reviewApp: string,
  reason: string,
): Promise<Map<string, string>> {
  const { reviewAppId, userIds, groupIds, why } = accessReviewAssignments
  const mine = and(eq(reviewAppId, reviewApp), eq(why, reason))
  await detachClosedTasks(tx, mine)
  const empty = sql`cardinality(${userIds}) + cardinality(${groupIds}) = 0`
  return assignmentsMade(tx, and(eq(reviewAppId, reviewApp), or(eq(why, reason), empty)))
}

/** Returns the assignment of reviewers, creating it if needed. `made` holds those of this transaction. */
export async function assignmentOf(
  tx: Db,
  { id: reviewAppId, domainId }: ReviewAppRow,
  { users: userIds, groups: groupIds, why }: Reviewers,
  byId: string | null,
  made: Map<string, string> = new Map(),
): Promise<string> {
  const key = assignmentKey(userIds, groupIds, why)
  const known = made.get(key)
  if (known !== undefined) return known
  const [row] = await tx
    .insert(accessReviewAssignments)
    .values({ domainId, reviewAppId, userIds, groupIds, why, byId })
    .returning({ id: accessReviewAssignments.id })
  const id = row?.id ?? ''
  made.set(key, id)
  return id
}

async function sourcesOf(
  tx: Db,
  review: ReviewRow,
  reviewApp: ReviewAppRow,
  kind: ReviewerKind,
  subjects: readonly Subject[],
): Promise<Sources> {
  const [app] = await tx
    .select({ users: apps.adminUserIds, groups: apps.adminGroupIds })
    .from(apps)
    .where(eq(apps.id, reviewApp.appId))
  const domainAdmins = await adminIds(tx, reviewApp.domainId)
  const before =
    kind === 'AS_LAST_TIME' ? await previousTeamsOf(tx, review, reviewApp, subjects) : new Map()
  const lastTime = await teamsOf(tx, before)
  const persons = [
    ...subjects.flatMap(({ userId }) => (userId === null ? [] : [userId])),
    ...review.reviewerUserIds,
    ...[...lastTime.values()].flatMap((team) => team.users),
    ...(app?.users ?? []),
    ...domainAdmins,
  ]
  return {
    people: await peopleAbove(tx, [...new Set(persons)]),
    named: { users: review.reviewerUserIds, groups: await membersOf(tx, review.reviewerGroupIds) },
    lastTime,
    appAdmins: { users: app?.users ?? [], groups: await membersOf(tx, app?.groups ?? []) },
    domainAdmins: { users: domainAdmins, groups: new Map() } satisfies Team,
  }
}

/** Returns the same teams, with the members of their groups. */
async function teamsOf(
  tx: Db,
  named: Awaited<ReturnType<typeof previousTeamsOf>>,
): Promise<Sources['lastTime']> {
  const groups = [...new Set([...named.values()].flatMap((one) => one.groupIds))]
  const members = await membersOf(tx, groups)
  const withMembers = (ids: readonly string[]) =>
    new Map(ids.map((id) => [id, members.get(id) ?? []]))
  return new Map(
    [...named].map(([of, one]) => [of, { users: one.userIds, groups: withMembers(one.groupIds) }]),
  )
}

/** Returns people together with all managers above them. */
async function peopleAbove(tx: Db, ids: readonly string[]): Promise<PeopleById> {
  const { rows } = await tx.execute<{ id: string; manager_id: string | null; able: boolean }>(sql`
    with recursive above as (
      select id, manager_id, status from users where id = any(${sql.param([...ids])}::uuid[])
      union
      select u.id, u.manager_id, u.status from above join users u on u.id = above.manager_id
    )
    select id, manager_id, ${usersWhoMayAct('above')} as able from above`)
  return new Map(rows.map((one) => [one.id, { managerId: one.manager_id, isAble: one.able }]))
}

/** Returns groups with their members who can sign in. */
async function membersOf(tx: Db, ids: readonly string[]): Promise<Team['groups']> {
  const found = new Map<string, string[]>()
  for (const id of ids) {
    const rows = await tx
      .select({ id: groupMembers.userId })
      .from(groupMembers)
      .innerJoin(users, eq(users.id, groupMembers.userId))
      .where(and(eq(groupMembers.groupId, id), usersWhoMayAct(users)))
      .limit(MAX_MEMBERS)
    found.set(id, idsOf(rows))
  }
  return found
}

/** Condition on lines without reviewers. */
export const UNASSIGNED: SQL = isNull(accessReviewItems.assignmentId)
/** Condition on undecided lines. */
export const OPEN_LINES: SQL = inArray(accessReviewItems.state, UNDECIDED)
