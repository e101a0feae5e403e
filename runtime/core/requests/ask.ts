/** Requesting access: who may request what, for which user, and for how long. */
import { and, asc, eq, sql } from 'drizzle-orm'
import {
  CoreError,
  conflict,
  forbidden,
  invalidAt,
  type ValidationEntry,
} from '../../contract/errors/problem.ts'
import type { CreateAccessRequestInput } from '../../contract/models/access-request.ts'
import type { Db } from '../../database/database.ts'
import { type PermissionRow, requestablePermissions } from '../../database/schema/app_store.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import { settingsView } from '../catalogue/store/settings-view.ts'
import { findFound, permissionsFoundBy, type VisibleApp } from '../catalogue/store/visibility.ts'
import { usersOf } from '../directory/users.ts'
import { distinctIds, isId } from '../kernel/by-id.ts'
import {
  type Caller,
  callerOf,
  mayAct,
  type Principal,
  requirePermission,
} from '../kernel/identity/principal.ts'
import { requestConfig } from './config.ts'
import { createRequest } from './create.ts'
import { durationOf } from './duration.ts'
import { isClosedTo } from './eligible-people.ts'
import { answerRequests } from './read.ts'
import type { RequestDeps } from './request-deps.ts'

const refused = (member: string, words: string, index?: number): CoreError => {
  const loc: ValidationEntry['loc'] = ['body', member, ...(index === undefined ? [] : [index])]
  return invalidAt(loc, `Value error, ${words}`)
}

/**
 * Creates a request for each permission. Creates none if one of them is refused.
 *
 * @throws CoreError forbidden, conflict, invalid
 */
export async function createAccessRequest(
  db: Db,
  principal: Principal,
  body: CreateAccessRequestInput,
  deps: RequestDeps,
) {
  const { rows, app } = await db.transaction(async (tx) => {
    const requester = await requesterOf(tx, principal, body.requester_user_id)
    const target = await personOf(
      tx,
      principal,
      body.target_user_id,
      'target_user_id',
      requester.userId,
    )
    const found = await appOf(tx, requester, body.app_id)
    const permissions = await permissionsOf(tx, requester, found, body.requestable_permission_ids)
    const made: RequestRow[] = []
    for (const permission of permissions) {
      const config = requestConfig(found.app, found.settings, permission)
      await isOpenTo(tx, found, permission, target.id)
      const wanted = {
        app: found.app,
        permission,
        plan: config.plan,
        requesterId: requester.userId,
        targetUserId: target.id,
        policyId: null,
        policyFor: null,
        expirationInSeconds: durationOf(body, config),
        justification: body.business_justification ?? body.note ?? null,
        preapproved: null,
      }
      made.push(await createRequest(tx, principal, wanted, deps))
    }
    return { rows: made, app: found.app }
  })
  return answerRequests(db, principal, rows, [], { apps: [app] })
}

/** Returns the requester: the caller or, for admins, any user. */
async function requesterOf(
  tx: Db,
  principal: Principal,
  id: string | undefined,
): Promise<Principal> {
  if (id === undefined || id.toLowerCase() === principal.userId) return principal
  requirePermission(principal, 'tasks.write')
  const person = await personOf(tx, principal, id, 'requester_user_id', principal.userId)
  const { domainId } = principal
  const caller: Caller = await callerOf(tx, { userId: person.id, domainId, readOnly: false })
  return { ...principal, ...caller }
}

async function personOf(
  tx: Db,
  { domainId }: Principal,
  id: string | undefined,
  member: string,
  otherwise: string,
) {
  const wanted = id ?? otherwise
  const [found] = isId(wanted) ? await usersOf(tx, [wanted]) : []
  const row = found?.domainId === domainId ? found : null
  if (!row) throw refused(member, 'there is no such user')
  if (!mayAct(row.status)) throw refused(member, `this user is ${row.status}`)
  return row
}

/** Returns the app, if the requester can see it in the app store. */
async function appOf(tx: Db, requester: Principal, appId: string): Promise<VisibleApp> {
  const found = await findFound(tx, requester, appId).catch((error: unknown) => {
    if (error instanceof CoreError && error.kind === 'not_found') return null
    throw error
  })
  if (!found?.settings?.inAppStore)
    throw refused(
      'app_id',
      'there is no such app in the app store; add it with POST /appstore/apps',
    )
  if (found.app.disconnectedAt !== null)
    throw conflict('This app is disconnected; you cannot request anything in it')
  return found
}

/** Returns the requested permissions without duplicates, or null for the app itself. */
async function permissionsOf(
  tx: Db,
  requester: Principal,
  found: VisibleApp,
  ids: readonly string[] = [],
): Promise<(PermissionRow | null)[]> {
  const view = settingsView(found.app, found.settings)
  const member = 'requestable_permission_ids'
  const wanted = distinctIds(ids)
  const byDefault = view.provisioning.default_permission
  const asked = wanted.length > 0
  const known = asked ? wanted : byDefault === null ? null : [byDefault]
  if (known === null) return [null]
  if (wanted.length > 1 && !found.app.allowMultiplePermissionSelection)
    throw refused(member, 'this app allows only one permission per request')
  const rows = await tx
    .select()
    .from(requestablePermissions)
    .where(
      and(
        eq(requestablePermissions.appId, found.app.id),
        sql`${requestablePermissions.id} = any(${sql.param(known.filter(isId))}::uuid[])`,
        // The default permission that the app's admins chose need not be visible to the requester.
        asked ? permissionsFoundBy(requester, found, view) : undefined,
      ),
    )
    .orderBy(asc(requestablePermissions.id))
    .for('key share')
  return known.map((id, index) => {
    const row = rows.find((one) => one.id === id)
    if (!row) throw refused(member, 'the app has no such permission', index)
    if (row.goneAt !== null)
      throw refused(member, `${JSON.stringify(row.label)} is no longer in the app`, index)
    return row
  })
}

/** Requires that the target is in an allowed group. @throws CoreError forbidden */
async function isOpenTo(
  tx: Db,
  found: VisibleApp,
  permission: PermissionRow | null,
  targetId: string,
): Promise<void> {
  if (await isClosedTo(tx, found, permission, targetId))
    throw forbidden(
      'Only members of certain groups can have this, and the person is in none of them',
    )
}
