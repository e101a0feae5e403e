/** What would happen if a user made a request now: who decides, and how long that usually takes. */

import { sql } from 'drizzle-orm'
import { CoreError, invalidAt, notFound } from '../../contract/errors/problem.ts'
import { ACCESS_LENGTHS } from '../../contract/models/access-length.ts'
import { MAX_OUTLOOKS, type RequestOutlook } from '../../contract/models/asking.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import { type Db, one } from '../../database/database.ts'
import type { PermissionRow } from '../../database/schema/app_store.ts'
import { DECISION_CATEGORIES } from '../../database/schema/tasks.ts'
import { appsOfPermissions, permissionsIn } from '../catalogue/store/permissions.ts'
import { findAllInStore, findInStore, type VisibleApp } from '../catalogue/store/visibility.ts'
import { findUser } from '../directory/users.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { decidersOfAll } from '../requests/approvers.ts'
import { requestConfig } from '../requests/config.ts'
import { preapprovedLengths } from '../requests/preapproved.ts'
import { judged } from '../requests/separation-effect.ts'
import { routesOf } from '../requests/subject.ts'
import { conflictsOfAll, toConflicts } from '../separation/check.ts'
import { namesOfAll } from './decider-names.ts'

type Query = { requestable_permission_id: string | null; target_user_id: string | null }

/**
 * Returns the outlook of a request.
 *
 * @throws CoreError `not_found` if the caller does not find the app or permission in the store, `invalid` if
 *   the person does not exist
 */
export const requestOutlook = async (
  db: Db,
  principal: Principal,
  appId: string,
  query: Query,
): Promise<RequestOutlook> => (await outlookAndEnd(db, principal, appId, query)).outlook

/**
 * Returns the outlook, and whether a person would revoke the access by hand.
 *
 * @throws CoreError as `requestOutlook`
 */
export async function outlookAndEnd(
  db: Db,
  principal: Principal,
  appId: string,
  { requestable_permission_id: permissionId, target_user_id: targetId }: Query,
): Promise<WithEnd> {
  const found = await findInStore(db, principal, appId)
  const [permission = null] =
    permissionId === null ? [] : await permissionsIn(db, principal, [found], [permissionId])
  if (permissionId !== null && permission === null) throw notFound('Permission')
  const target = await targetOf(db, principal, targetId)
  return one(await outlooksOf(db, principal, [{ found, permission }], target.id))
}

type ManyQuery = {
  app_ids: readonly string[]
  requestable_permission_ids: readonly string[]
  target_user_id: string | null
}

/**
 * Returns the outlooks of several apps and permissions that the caller finds in the store: first those of the
 * apps, then those of the permissions, each in the given order. The number of statements does not grow with
 * their number.
 *
 * @throws CoreError `invalid` if there are more than `MAX_OUTLOOKS`, or if the person does not exist
 */
export async function requestOutlooks(
  db: Db,
  principal: Principal,
  query: ManyQuery,
): Promise<RequestOutlook[]> {
  const { app_ids: appIds, requestable_permission_ids: permissionIds } = query
  if (appIds.length + permissionIds.length > MAX_OUTLOOKS) {
    const msg = `Value error, name at most ${MAX_OUTLOOKS} apps and permissions at once`
    throw invalidAt(['query', 'app_ids'], msg)
  }
  const target = await targetOf(db, principal, query.target_user_id)
  const carriers = await appsOfPermissions(db, principal, permissionIds)
  const found = await findAllInStore(db, principal, [...appIds, ...carriers])
  const permissions = await permissionsIn(db, principal, [...found.values()], permissionIds)
  const subjects: Subject[] = [
    ...appIds.map((id) => ({ found: found.get(id), permission: null })),
    ...permissionIds.map((id) => {
      const permission = permissions.find((one) => one.id === id)
      return { found: found.get(permission?.appId ?? ''), permission: permission ?? null }
    }),
  ].flatMap(({ found: app, permission }) => (app ? [{ found: app, permission }] : []))
  const all = await outlooksOf(db, principal, subjects, target.id)
  return all.map(({ outlook }) => outlook)
}

type Subject = { found: VisibleApp; permission: PermissionRow | null }
type WithEnd = { outlook: RequestOutlook; takenByHand: boolean }

async function outlooksOf(
  db: Db,
  principal: Principal,
  subjects: readonly Subject[],
  targetUserId: string,
): Promise<WithEnd[]> {
  const { domainId, userId: requesterId } = principal
  const configured = subjects.map(({ found: { app, settings }, permission }) => {
    const config = requestConfig(app, settings, permission)
    const lengths = config.lengths.length > 0 ? [...config.lengths] : ALL_LENGTHS
    return { app, permission, config, lengths, appId: app.id, permissionId: permission?.id ?? null }
  })
  const routes = await routesOf(db, configured)
  const asked = { domainId, userId: targetUserId, requestId: null }
  const conflicts = await conflictsOfAll(db, asked, configured)
  const preapproved = await preapprovedLengths(db, targetUserId, configured)
  const planned = configured.map((one, at) => {
    const broken = conflicts[at] ?? []
    const { plan } = judged(
      one.config.plan,
      broken.map(({ rule }) => rule),
    )
    return { ...one, broken, plan, domainId, requesterId, targetUserId }
  })
  const deciders = await decidersOfAll(db, planned)
  const who = deciders.flat().map((one) => one ?? { users: [], groups: [] })
  const names = await namesOfAll(db, who)
  const steps = who.map(({ users, groups }, at) => ({
    deciders: names[at] ?? [],
    count: users.length + groups.length,
  }))
  const told = await toConflicts(db, conflicts.flat())
  const times = await timesOf(
    db,
    planned.map(({ appId }) => appId),
  )
  return planned.map(({ appId, permissionId, config, lengths, plan, broken }, at) => {
    const fulfilment = routes[at]?.fulfilment
    const outlook: RequestOutlook = {
      app_id: appId,
      requestable_permission_id: permissionId,
      steps: steps.splice(0, deciders[at]?.length).map((step, stage) => ({
        kind: plan.manager && stage === 0 ? 'manager' : 'approvers',
        ...step,
      })),
      access_lengths: lengths,
      default_access_length: config.defaultLength,
      preapproved_access_lengths: plan.exception === undefined ? (preapproved[at] ?? []) : [],
      given_by_hand: config.manualSteps || fulfilment === 'manual',
      separation_of_duties: told.splice(0, broken.length),
      ...(times.get(appId) ?? { median_decision_seconds: null, decided_requests: 0 }),
    }
    const takenByHand =
      fulfilment === 'manual' || (fulfilment === 'webhook' && config.removalWebhook === null)
    return { outlook, takenByHand }
  })
}

const ALL_LENGTHS = keysOf(ACCESS_LENGTHS)

/** @throws CoreError `invalid` if the person does not exist */
const targetOf = (db: Db, principal: Principal, id: string | null) =>
  findUser(db, principal, id ?? principal.userId).catch((error: unknown): never => {
    if (!(error instanceof CoreError && error.kind === 'not_found')) throw error
    const loc = ['query', 'target_user_id']
    throw invalidAt(loc, 'Value error, there is no such user')
  })

type Times = Pick<RequestOutlook, 'median_decision_seconds' | 'decided_requests'>

/** Returns, by app id, the median time from the creation of a request to its last decision by a person. */
async function timesOf(db: Db, appIds: readonly string[]): Promise<ReadonlyMap<string, Times>> {
  const { rows } = await db.execute<{ app_id: string; median: number | null; decided: number }>(sql`
    select one.app_id, percentile_cont(0.5) within group (order by seconds)::float8 as median,
      count(seconds)::int as decided
    from (select distinct unnest(${sql.param([...appIds])}::uuid[]) as app_id) one
    cross join lateral (
      select extract(epoch from (
        select max(t.updated_at) from tasks t where t.access_request_id = r.id
          and t.task_category in (${DECISION_CATEGORIES})
          and t.status in ('COMPLETED', 'DISMISSED') and t.resolved_by_id is not null
      ) - r.created_at) as seconds
      from access_requests r
      where r.app_id = one.app_id and r.created_at > now() - interval '90 days'
        and r.status not in ('PENDING', 'PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL')
      order by r.created_at desc limit 1000
    ) decided
    where seconds is not null group by one.app_id`)
  return new Map(
    rows.map(({ app_id: id, median, decided }) => [
      id,
      {
        median_decision_seconds: median === null ? null : Math.round(median),
        decided_requests: decided,
      },
    ]),
  )
}
