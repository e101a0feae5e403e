/** Approvers of a decision. Resolved when a stage begins, so that people who have left are not asked. */
import { inArray, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import type { ApprovalPlan, Approvers, RequestRow } from '../../database/schema/requests.ts'
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
import type { DecidedStep } from './machine/events.ts'

/** Parties of a request, and its app. */
type PartiesOfApp = Parties & Pick<RequestRow, 'appId' | 'domainId'>

/** Facts about the possible approvers of some requests of one domain. */
type ApproverFacts = {
  able: Able
  managers: ReadonlyMap<string, readonly string[]>
  /** Admins of the apps, by app id. */
  admins: ReadonlyMap<string, Approvers>
  adminsOfDomain: readonly string[]
}

const NOBODY: Approvers = { users: [], groups: [] }

/** Returns the approvers or manager of a step, else the admins of the app; null if none can decide. */
function namedApprovers(
  known: ApproverFacts,
  request: Planned,
  step: DecidedStep,
): Approvers | null {
  const { able, managers, admins } = known
  const ofApp = () => eligibleOf(able, request, admins.get(request.appId) ?? NOBODY)
  if (step !== 'manager')
    return eligibleOf(able, request, request.plan.stages[step] ?? NOBODY) ?? ofApp()
  // If the manager is a party or has left, take the next one above.
  for (const id of managers.get(request.targetUserId) ?? []) {
    const one = eligibleOf(able, request, { users: [id], groups: [] })
    if (one !== null) return one
  }
  return ofApp()
}

/**
 * Returns the approvers of a decision: those named for it, else the admins of the app, else those of the
 * domain. Null if only the parties of the request remain.
 */
function chooseDeciders(
  known: ApproverFacts,
  request: Planned,
  step: DecidedStep,
): Approvers | null {
  const named = namedApprovers(known, request, step)
  if (named !== null) return named
  const parties = partiesOf(request)
  const ofDomain = known.adminsOfDomain.filter((id) => !parties.includes(id))
  return ofDomain.length > 0 ? { users: ofDomain, groups: [] } : null
}

/** Reads the facts in a fixed number of queries. All requests are of one domain. */
async function knownOf(db: Db, requests: readonly Planned[]): Promise<ApproverFacts> {
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

/** Returns the current approvers of each decision of some requests of one domain, in order; null for none. */
export async function decidersOfAll(
  db: Db,
  requests: readonly Planned[],
): Promise<(Approvers | null)[][]> {
  if (requests.length === 0) return []
  const known = await knownOf(db, requests)
  return requests.map((one) =>
    decidedSteps(one.plan).map((step) => chooseDeciders(known, one, step)),
  )
}

/** Returns the people who do manual work for an app. Includes parties, since there is nothing to decide. */
export async function manualWorkersOf(
  db: Db,
  { appId, domainId }: PartiesOfApp,
): Promise<Approvers> {
  const plan = { manager: false, stages: [NOBODY], message: null, validationWebhook: null }
  const nobodys = { appId, domainId, plan, requesterId: null, targetUserId: NO_ID }
  return (await readDeciders(db, nobodys, 0)) ?? NOBODY
}

/** Id of no object. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

/** Returns the decisions of a plan, in order. A plan that names no one has one stage, of the admins. */
export function decidedSteps({ manager, stages }: ApprovalPlan): DecidedStep[] {
  const count = stages.length > 0 || manager ? stages.length : 1
  return [...(manager ? ['manager' as const] : []), ...Array.from({ length: count }, (_, n) => n)]
}

type Planned = PartiesOfApp & Pick<RequestRow, 'plan'>

/** Returns the current approvers of a decision, or null if there are none. */
export async function readDeciders(
  db: Db,
  request: Planned,
  step: DecidedStep,
): Promise<Approvers | null> {
  return chooseDeciders(await knownOf(db, [request]), request, step)
}

/** Returns the approvers of all decisions of a request, or null if there are none. */
export async function allDeciders(db: Db, request: Planned): Promise<Approvers | null> {
  const [steps = []] = await decidersOfAll(db, [request])
  const all = {
    users: distinct(steps.flatMap((one) => one?.users ?? [])),
    groups: distinct(steps.flatMap((one) => one?.groups ?? [])),
  }
  return all.users.length + all.groups.length > 0 ? all : null
}

/** Returns the approvers of the first decision of a request, or null if any of its decisions has none. */
export async function firstDeciders(db: Db, request: Planned): Promise<Approvers | null> {
  const [[first = null, ...others] = []] = await decidersOfAll(db, [request])
  return others.includes(null) ? null : first
}
