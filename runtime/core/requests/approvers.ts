/** Deciders of a step. Resolved when the step begins, so that people who have left are not asked. */
import { inArray, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import type { ApprovalPlan, PeopleAndGroups, RequestRow } from '../../database/schema/requests.ts'
import { adminsOf } from '../directory/admins.ts'
import {
  type Able,
  ableOf,
  distinct,
  eligibleOf,
  managersOf,
  type Parties,
  partiesOf,
} from './active-people.ts'
import type { PlanStep } from './machine/events.ts'

/** Parties of a request, and its app. */
type PartiesOfApp = Parties & Pick<RequestRow, 'appId' | 'domainId'>

/** Facts about the possible deciders of some requests of one domain. */
type DeciderFacts = {
  able: Able
  managers: ReadonlyMap<string, readonly string[]>
  /** Admins of the apps, by app id. */
  admins: ReadonlyMap<string, PeopleAndGroups>
  adminsOfDomain: readonly string[]
}

const NOBODY: PeopleAndGroups = { users: [], groups: [] }

/** Returns those approvers or that manager of a step who can decide, or null if none can. */
function namedDeciders(
  known: DeciderFacts,
  request: Planned,
  step: PlanStep,
): PeopleAndGroups | null {
  const { able, managers } = known
  if (step !== 'manager') return eligibleOf(able, request, request.plan.stages[step] ?? NOBODY)
  // If the manager is a party or has left, take the next one above.
  for (const id of managers.get(request.targetUserId) ?? []) {
    const one = eligibleOf(able, request, { users: [id], groups: [] })
    if (one !== null) return one
  }
  return null
}

/**
 * Returns the deciders of a step: those named for it, else the admins of the app, else those of the domain.
 * Null if only the parties of the request remain.
 */
function chooseDeciders(
  known: DeciderFacts,
  request: Planned,
  step: PlanStep,
): PeopleAndGroups | null {
  const { able, admins } = known
  const chosen =
    namedDeciders(known, request, step) ??
    eligibleOf(able, request, admins.get(request.appId) ?? NOBODY)
  if (chosen !== null) return chosen
  const parties = partiesOf(request)
  const ofDomain = known.adminsOfDomain.filter((id) => !parties.includes(id))
  return ofDomain.length > 0 ? { users: ofDomain, groups: [] } : null
}

/** Reads the facts in a fixed number of queries. All requests are of one domain. */
async function knownOf(db: Db, requests: readonly Planned[]): Promise<DeciderFacts> {
  const domainId = requests[0]?.domainId ?? NO_ID
  const managers = await managersOf(
    db,
    requests.filter(({ plan }) => plan.manager).map((one) => one.targetUserId),
  )
  const rows = await db
    .select({
      ...{ id: apps.id, users: apps.adminUserIds, groups: apps.adminGroupIds },
      ofDomain: sql<string[]>`array(${adminsOf(db, domainId)})`,
    })
    .from(apps)
    .where(inArray(apps.id, distinct(requests.map(({ appId }) => appId))))
  const able = await ableOf(db, [
    ...requests.flatMap(({ plan }) => plan.stages),
    ...rows,
    { users: [...managers.values()].flat(), groups: [] },
  ])
  const admins = new Map(rows.map(({ id, users, groups }) => [id, { users, groups }]))
  return { able, managers, admins, adminsOfDomain: rows[0]?.ofDomain ?? [] }
}

/** Returns the current deciders of each step of some requests of one domain, in order; null for none. */
export async function decidersOfAll(
  db: Db,
  requests: readonly Planned[],
): Promise<(PeopleAndGroups | null)[][]> {
  if (requests.length === 0) return []
  const known = await knownOf(db, requests)
  return requests.map((one) =>
    stepsOfPlan(one.plan).map((step) => chooseDeciders(known, one, step)),
  )
}

/** Returns the people who do manual work for an app. Includes parties, since there is nothing to decide. */
export async function manualWorkersOf(
  db: Db,
  { appId, domainId }: PartiesOfApp,
): Promise<PeopleAndGroups> {
  const plan = { manager: false, stages: [NOBODY], message: null, validationWebhook: null }
  const nobodys = { appId, domainId, plan, requesterId: null, targetUserId: NO_ID }
  return (await readDeciders(db, nobodys, 0)) ?? NOBODY
}

/** Id of no object. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

/** Returns the steps of a plan, in order. A plan that names no one has one stage, of the admins. */
export function stepsOfPlan({ manager, stages }: ApprovalPlan): PlanStep[] {
  const count = stages.length > 0 || manager ? stages.length : 1
  return [...(manager ? ['manager' as const] : []), ...Array.from({ length: count }, (_, n) => n)]
}

type Planned = PartiesOfApp & Pick<RequestRow, 'plan'>

/** Returns the current deciders of a step, or null if there are none. */
export async function readDeciders(
  db: Db,
  request: Planned,
  step: PlanStep,
): Promise<PeopleAndGroups | null> {
  return chooseDeciders(await knownOf(db, [request]), request, step)
}

/** Returns the deciders of all steps of a request, or null if there are none. */
export async function allDeciders(db: Db, request: Planned): Promise<PeopleAndGroups | null> {
  const [steps = []] = await decidersOfAll(db, [request])
  const all = {
    users: distinct(steps.flatMap((one) => one?.users ?? [])),
    groups: distinct(steps.flatMap((one) => one?.groups ?? [])),
  }
  return all.users.length + all.groups.length > 0 ? all : null
}

/** Returns the deciders of the first step of a request, or null if any of its steps has none. */
export async function firstDeciders(db: Db, request: Planned): Promise<PeopleAndGroups | null> {
  const [[first = null, ...others] = []] = await decidersOfAll(db, [request])
  return others.includes(null) ? null : first
}
