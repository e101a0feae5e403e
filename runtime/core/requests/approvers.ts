/** Who decides: resolved at the moment when a stage begins, so that nobody is asked who has left. */
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
} from './able.ts'
import type { DecidedStep } from './machine/events.ts'

/** A request, and where. */
type PartiesOfApp = Parties & Pick<RequestRow, 'appId' | 'domainId'>

/** What is known of those who may decide on some requests of one domain. */
type Known = {
  able: Able
  managers: ReadonlyMap<string, readonly string[]>
  /** The admins of the apps, by the id of an app. */
  admins: ReadonlyMap<string, Approvers>
  adminsOfDomain: readonly string[]
}

const NOBODY: Approvers = { users: [], groups: [] }

/** Who is named for a step, or the next manager above; else the admins of the app. Null if none of them can decide. */
function namedFor(known: Known, request: Planned, step: DecidedStep): Approvers | null {
  const { able, managers, admins } = known
  const ofApp = () => eligibleOf(able, request, admins.get(request.appId) ?? NOBODY)
  if (step !== 'manager')
    return eligibleOf(able, request, request.plan.stages[step] ?? NOBODY) ?? ofApp()
  // Where the manager is a party or gone, the next one above.
  for (const id of managers.get(request.targetUserId) ?? []) {
    const one = eligibleOf(able, request, { users: [id], groups: [] })
    if (one !== null) return one
  }
  return ofApp()
}

/**
 * Who makes a decision: those named for it, else the admins of the app, else those of the domain; null where nobody
 * is left but who asked and who is to have the access.
 */
function decidersIn(known: Known, request: Planned, step: DecidedStep): Approvers | null {
  const named = namedFor(known, request, step)
  if (named !== null) return named
  const parties = partiesOf(request)
  const ofDomain = known.adminsOfDomain.filter((id) => !parties.includes(id))
  return ofDomain.length > 0 ? { users: ofDomain, groups: [] } : null
}

/** In a number of statements that does not grow with the requests, which are of one domain. */
async function knownOf(db: Db, requests: readonly Planned[]): Promise<Known> {
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

/** Who makes each decision of some requests of one domain, in its order, as things are now; null where nobody may. */
export async function decidersOfAll(
  db: Db,
  requests: readonly Planned[],
): Promise<(Approvers | null)[][]> {
  if (requests.length === 0) return []
  const known = await knownOf(db, requests)
  return requests.map((one) => decidedSteps(one.plan).map((step) => decidersIn(known, one, step)))
}

/** Those who do work by hand for an app; parties among them, for there is nothing to decide. */
export async function doers(db: Db, { appId, domainId }: PartiesOfApp): Promise<Approvers> {
  const plan = { manager: false, stages: [NOBODY], message: null, validationWebhook: null }
  const nobodys = { appId, domainId, plan, requesterId: null, targetUserId: NO_ID }
  return (await decidersOf(db, nobodys, 0)) ?? NOBODY
}

/** An id that nothing has. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

/** The decisions that a plan asks for, one after the other. Where it names nobody the admins are the one stage. */
export function decidedSteps({ manager, stages }: ApprovalPlan): DecidedStep[] {
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
  return decidersIn(await knownOf(db, [request]), request, step)
}

/** All who make a decision of a request; null where nobody does. */
export async function allDeciders(db: Db, request: Planned): Promise<Approvers | null> {
  const [steps = []] = await decidersOfAll(db, [request])
  const all = {
    users: distinct(steps.flatMap((one) => one?.users ?? [])),
    groups: distinct(steps.flatMap((one) => one?.groups ?? [])),
  }
  return all.users.length + all.groups.length > 0 ? all : null
}

/** Who makes the first decision of a request; null if one of its decisions has no approver. */
export async function firstDeciders(db: Db, request: Planned): Promise<Approvers | null> {
  const [[first = null, ...others] = []] = await decidersOfAll(db, [request])
  return others.includes(null) ? null : first
}
