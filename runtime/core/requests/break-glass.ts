/** Taking a break-glass permission, which is granted at once for a short time. */
import { and, eq, notInArray, sql } from 'drizzle-orm'
import { bodyEntry, CoreError, forbidden, notFound } from '../../contract/errors/problem.ts'
import type { AccessRequest } from '../../contract/models/access-request.ts'
import type { TakeBreakGlassInput } from '../../contract/models/break-glass.ts'
import { type Db, one } from '../../database/database.ts'
import {
  appStoreSettings,
  breakGlass,
  requestablePermissions,
} from '../../database/schema/app_store.ts'
import { apps } from '../../database/schema/apps.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { isId } from '../kernel/by-id.ts'
import { hasRow } from '../kernel/has-row.ts'
import { groupArrayOf } from '../kernel/identity/app-reach.ts'
import { lockUser, mayAct, type Principal } from '../kernel/identity/principal.ts'
import { keptText } from '../kernel/kept-text.ts'
import { requestConfig } from './config.ts'
import { createRequest } from './create.ts'
import { type GlassRefusal, glassRefusal } from './machine/break-glass.ts'
import { statesThatAre } from './machine/states.ts'
import { answerRequests } from './read.ts'
import type { RequestDeps } from './request-deps.ts'

/**
 * Takes a break-glass permission for the caller. One transaction writes the request, its review task, the
 * log, and the job that grants the access.
 *
 * @throws CoreError forbidden, not_found, conflict, invalid
 */
export async function takeBreakGlass(
  db: Db,
  principal: Principal,
  permissionId: string,
  body: TakeBreakGlassInput,
  deps: RequestDeps,
): Promise<AccessRequest> {
  const made = await db.transaction(async (tx) => {
    const found = await findGlass(tx, principal, permissionId)
    const minutes = body.minutes ?? found.glass.maxMinutes
    const refusal = glassRefusal({
      ...{ isMember: found.isMember, minutes, maxMinutes: found.glass.maxMinutes },
      isThere: found.permission.goneAt === null && found.app.disconnectedAt === null,
      isTaken: await isTaken(tx, principal, found.permission.id),
    })
    if (refusal) throw errorOf(refusal)
    const { app, permission, settings } = found
    const wanted = {
      ...{ app, permission, plan: requestConfig(app, settings, permission).plan },
      ...{ requesterId: principal.userId, targetUserId: principal.userId },
      ...{ policyId: null, policyFor: null, preapproved: null, isBreakGlass: true },
      expirationInSeconds: minutes * 60,
      justification: keptText(body.reason.trim(), body.reason.length),
    }
    return createRequest(tx, principal, wanted, deps)
  })
  return one(await answerRequests(db, principal, [made], []))
}

const errorOf = ({ kind, words }: GlassRefusal): CoreError =>
  kind === 'invalid'
    ? new CoreError(kind, [bodyEntry(['minutes'], words)])
    : new CoreError(kind, words)

/** Returns the permission, locked against deletion. Locks the person, so that they take one at a time. */
async function findGlass(tx: Db, { userId, domainId }: Principal, id: string) {
  const [found] = isId(id)
    ? await tx
        .select({
          ...{ glass: breakGlass, permission: requestablePermissions, app: apps },
          settings: appStoreSettings,
          isMember: sql<boolean>`${breakGlass.groupIds} && ${groupArrayOf(userId)}`,
        })
        .from(breakGlass)
        .innerJoin(requestablePermissions, eq(requestablePermissions.id, breakGlass.id))
        .innerJoin(apps, eq(apps.id, breakGlass.appId))
        .leftJoin(appStoreSettings, eq(appStoreSettings.appId, apps.id))
        .where(and(eq(breakGlass.id, id), eq(breakGlass.domainId, domainId)))
        .for('key share', { of: requestablePermissions })
    : []
  if (!found) throw notFound('Break-glass permission')
  const person = await lockUser(tx, userId)
  if (!person || !mayAct(person.status)) throw forbidden(`This user is ${person?.status ?? 'gone'}`)
  return found
}

/** Reports whether the person has a use of the permission that has not ended. */
async function isTaken(tx: Db, { userId }: Principal, permissionId: string): Promise<boolean> {
  return hasRow(
    tx,
    accessRequests,
    eq(accessRequests.permissionId, permissionId),
    eq(accessRequests.targetUserId, userId),
    accessRequests.isBreakGlass,
    notInArray(accessRequests.status, statesThatAre('over')),
  )
}
