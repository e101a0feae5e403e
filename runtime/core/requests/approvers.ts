/** Who decides: resolved at the moment when a stage begins, so that nobody is asked who has left. */
import { and, eq, inArray, notInArray, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { groupMembers, users } from '../../database/schema/people.ts'
import type { ApprovalPlan, Approvers } from '../../database/schema/requests.ts'
import { adminIds, adminsOf } from '../directory/admins.ts'
import type { DecidedStep } from './machine/events.ts'
import type { RequestRow } from './machine/request.ts'

const GONE = ['SUSPENDED', 'INACTIVE'] as const

/** Who a request is of and for. */
type Parties = Pick<RequestRow, 'requesterId' | 'targetUserId'>
/** And where. */
type PartiesOfApp = Parties & Pick<RequestRow, 'appId' | 'domainId'>

/** Those who may not decide on a request: who asked, and who is to have the access. */
export const partiesOf = ({ requesterId, targetUserId }: Parties): string[] => [
  ...new Set([targetUserId, ...(requesterId === null ? [] : [requesterId])]),
]

/** The ids of users that are there and may act, without some. */
async function able(db: Db, ids: readonly string[], without: readonly string[]): Promise<string[]> {
  const wanted = ids.filter((id) => !without.includes(id))
  if (wanted.length === 0) return []
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(and(inArray(users.id, wanted), notInArray(users.status, [...GONE])))
  return rows.map(({ id }) => id)
}

/** Groups with at least one member who may act and is no party. */
async function ableGroups(db: Db, ids: readonly string[], without: readonly string[]) {
  if (ids.length === 0) return []
  const rows = await db
    .selectDistinct({ id: groupMembers.groupId })
    .from(groupMembers)
    .innerJoin(users, eq(users.id, groupMembers.userId))
    .where(
      and(
        inArray(groupMembers.groupId, [...ids]),
        notInArray(users.status, [...GONE]),
        without.length > 0 ? notInArray(users.id, [...without]) : undefined,
      ),
    )
  return rows.map(({ id }) => id)
}

/** Those of some who may decide on a request; null where nobody is left. */
export async function eligible(
  db: Db,
  request: Parties,
  { users: people, groups }: Approvers,
): Promise<Approvers | null> {
  const parties = partiesOf(request)
  const found = {
    users: await able(db, people, parties),
    groups: await ableGroups(db, groups, parties),
  }
  return found.users.length + found.groups.length > 0 ? found : null
}

/** Longest chain of managers that is followed. */
const MAX_MANAGERS = 50

/**
 * The manager who decides: the target's, or where that one is a party or gone, the next one above. Null
 * where there is none; a chain that closes to a ring ends.
 */
async function managerOf(db: Db, request: Parties): Promise<string | null> {
  const parties = partiesOf(request)
  const seen = new Set<string>()
  let below: string | null = request.targetUserId
  while (below !== null && seen.size < MAX_MANAGERS) {
    seen.add(below)
    const [row]: { managerId: string | null }[] = await db
      .select({ managerId: users.managerId })
      .from(users)
      .where(eq(users.id, below))
    const above: string | null = row?.managerId ?? null
    if (above === null || seen.has(above)) return null
    const [one] = await able(db, [above], parties)
    if (one !== undefined) return one
    below = above
  }
  return null
}

/**
 * Who decides where nobody else is named, or is left: the admins of the app, else those of the domain; null
 * where there is none but who asked and who is to have the access.
 */
async function admins(db: Db, request: PartiesOfApp): Promise<Approvers | null> {
  const [app] = await db
    .select({
      users: apps.adminUserIds,
      groups: apps.adminGroupIds,
      ofDomain: sql<string[]>`array(${adminsOf(db, request.domainId)})`,
    })
    .from(apps)
    .where(eq(apps.id, request.appId))
  const ofApp = app ? await eligible(db, request, app) : null
  if (ofApp) return ofApp
  const parties = partiesOf(request)
  const all = app?.ofDomain ?? (await adminIds(db, request.domainId))
  const ofDomain = all.filter((id) => !parties.includes(id))
  return ofDomain.length > 0 ? { users: ofDomain, groups: [] } : null
}

/** Those who do work by hand for an app; parties among them, for there is nothing to decide. */
export async function doers(db: Db, request: PartiesOfApp): Promise<Approvers> {
  const parties = { ...request, requesterId: null, targetUserId: NO_USER }
  return (await admins(db, parties)) ?? { users: [], groups: [] }
}

/** An id that no user has. */
const NO_USER = '00000000-0000-0000-0000-000000000000'

/** The decisions that a plan asks for, one after the other. Where it names nobody the admins are the one stage. */
export function stepsOf({ manager, stages }: ApprovalPlan): DecidedStep[] {
  const count = stages.length > 0 || manager ? stages.length : 1
  return [...(manager ? ['manager' as const] : []), ...Array.from({ length: count }, (_, n) => n)]
}

type Planned = PartiesOfApp & Pick<RequestRow, 'plan'>

/** Who makes a decision, as things are now; null where nobody may. */
export async function decidersOf(
  db: Db,
  request: Planned,
  step: DecidedStep,
): Promise<Approvers | null> {
  if (step === 'manager') {
    const manager = await managerOf(db, request)
    return manager === null ? admins(db, request) : { users: [manager], groups: [] }
  }
  const named = request.plan.stages[step] ?? { users: [], groups: [] }
  return (await eligible(db, request, named)) ?? admins(db, request)
}

/** All who make a decision of a request; null where nobody does. */
export async function allDeciders(db: Db, request: Planned): Promise<Approvers | null> {
  const all: Approvers = { users: [], groups: [] }
  for (const step of stepsOf(request.plan)) {
    const who = await decidersOf(db, request, step)
    all.users.push(...(who?.users ?? []))
    all.groups.push(...(who?.groups ?? []))
  }
  const distinct = { users: [...new Set(all.users)], groups: [...new Set(all.groups)] }
  return distinct.users.length + distinct.groups.length > 0 ? distinct : null
}

/** Who makes the first decision of a request; null if one of its decisions has no approver. */
export async function firstDeciders(db: Db, request: Planned): Promise<Approvers | null> {
  let first: Approvers | null = null
  for (const step of stepsOf(request.plan)) {
    const who = await decidersOf(db, request, step)
    if (who === null) return null
    first ??= who
  }
  return first
}
