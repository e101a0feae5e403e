/** What would happen if a user asked now: who decides, how long that usually takes. */

import { and, eq, sql } from 'drizzle-orm'
import { CoreError, notFound } from '../../contract/errors/problem.ts'
import { ACCESS_LENGTHS } from '../../contract/models/access-length.ts'
import type { DecisionStep, RequestOutlook } from '../../contract/models/asking.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import type { Db } from '../../database/database.ts'
import { requestablePermissions } from '../../database/schema/app_store.ts'
import type { PermissionRow } from '../catalogue/store/permission-base.ts'
import { settingsView } from '../catalogue/store/settings-view.ts'
import { findInStore, permissionsFoundBy, type VisibleApp } from '../catalogue/store/visibility.ts'
import { findUser } from '../directory/users.ts'
import { isId } from '../kernel/id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { decidersOf, stepsOf } from '../requests/approvers.ts'
import { requestConfig } from '../requests/config.ts'
import { judged } from '../requests/duties.ts'
import { routeOf } from '../requests/subject.ts'
import { conflictsOf, toConflicts } from '../separation/check.ts'
import { namesOf } from './named.ts'

type Query = { requestable_permission_id: string | null; target_user_id: string | null }

/** @throws CoreError not_found for what the caller does not find in the store, invalid for a person who is not there */
export const requestOutlook = async (
  db: Db,
  principal: Principal,
  appId: string,
  query: Query,
): Promise<RequestOutlook> => (await outlookAndEnd(db, principal, appId, query)).outlook

/** The outlook, and whether a person takes the access back by hand. @throws CoreError as `requestOutlook` */
export async function outlookAndEnd(
  db: Db,
  principal: Principal,
  appId: string,
  { requestable_permission_id: permissionId, target_user_id: targetId }: Query,
): Promise<{ outlook: RequestOutlook; takenByHand: boolean }> {
  const found = await findInStore(db, principal, appId)
  const permission =
    permissionId === null ? null : await permissionOf(db, principal, found, permissionId)
  const target = await findUser(db, principal, targetId ?? principal.userId).catch(noTarget)
  const { app } = found
  const config = requestConfig(app, found.settings, permission)
  const { plan, lengths, defaultLength, manualSteps } = config
  const { fulfilment } = await routeOf(db, app, permission, config)
  const conflicts = await conflictsOf(db, {
    ...{ domainId: app.domainId, userId: target.id, appId: app.id },
    ...{ permissionId: permission?.id ?? null, requestId: null },
  })
  const duties = judged(
    plan,
    conflicts.map(({ rule }) => rule),
  )
  const planned = {
    ...{ appId: app.id, domainId: app.domainId, plan: duties.plan },
    ...{ requesterId: principal.userId, targetUserId: target.id },
  }
  const steps: DecisionStep[] = []
  for (const step of stepsOf(planned.plan)) {
    const who = (await decidersOf(db, planned, step)) ?? { users: [], groups: [] }
    const kind = step === 'manager' ? 'manager' : 'approvers'
    steps.push({
      kind,
      deciders: await namesOf(db, who),
      count: who.users.length + who.groups.length,
    })
  }
  const outlook: RequestOutlook = {
    app_id: app.id,
    requestable_permission_id: permission?.id ?? null,
    steps,
    access_lengths: lengths.length > 0 ? [...lengths] : ALL_LENGTHS,
    default_access_length: defaultLength,
    given_by_hand: manualSteps || fulfilment === 'manual',
    separation_of_duties: await toConflicts(db, conflicts),
    ...(await timeOf(db, app.id)),
  }
  const takenByHand =
    fulfilment === 'manual' || (fulfilment === 'webhook' && config.removalWebhook === null)
  return { outlook, takenByHand }
}

const ALL_LENGTHS = keysOf(ACCESS_LENGTHS)

const noTarget = (error: unknown): never => {
  if (!(error instanceof CoreError && error.kind === 'not_found')) throw error
  const loc = ['query', 'target_user_id']
  throw new CoreError('invalid', [
    { loc, type: 'value_error', msg: 'Value error, there is no such user' },
  ])
}

async function permissionOf(
  db: Db,
  principal: Principal,
  found: VisibleApp,
  id: string,
): Promise<PermissionRow> {
  const view = settingsView(found.app, found.settings)
  const [row] = isId(id)
    ? await db
        .select()
        .from(requestablePermissions)
        .where(
          and(
            eq(requestablePermissions.appId, found.app.id),
            eq(requestablePermissions.id, id),
            permissionsFoundBy(principal, found, view),
          ),
        )
    : []
  if (!row) throw notFound('Permission')
  return row
}

type Times = Pick<RequestOutlook, 'median_decision_seconds' | 'decided_requests'>

/** From when requests for an app were made until people had decided them. */
async function timeOf(db: Db, appId: string): Promise<Times> {
  const { rows } = await db.execute<{ median: number | null; decided: string }>(sql`
    with decided as (
      select extract(epoch from (
        select max(t.updated_at) from tasks t where t.access_request_id = r.id
          and t.task_category in ('MANAGER_APPROVAL', 'APPROVAL')
          and t.status in ('COMPLETED', 'DISMISSED') and t.resolved_by_id is not null
      ) - r.created_at) as seconds
      from access_requests r
      where r.app_id = ${appId} and r.created_at > now() - interval '90 days'
        and r.status not in ('PENDING', 'PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL')
      order by r.created_at desc limit 1000
    )
    select percentile_cont(0.5) within group (order by seconds)::float8 as median, count(seconds) as decided
    from decided where seconds is not null`)
  const [row] = rows
  const median = row?.median ?? null
  return {
    median_decision_seconds: median === null ? null : Math.round(median),
    decided_requests: Number(row?.decided ?? 0),
  }
}
