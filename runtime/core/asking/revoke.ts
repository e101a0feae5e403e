/**
 * Revoking: a person responsible for an app ends the access that a request granted, at once. As for
 * cancelling, that is an admin, or an admin of the app. Approvers may not: they are chosen for a single
 * decision and are not responsible for the app.
 */
import { eq } from 'drizzle-orm'
import { type CoreError, conflict, forbidden } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { accessPolicies } from '../../database/schema/policies.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import { appsOf } from '../catalogue/apps/apps.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { keptText } from '../kernel/kept-text.ts'
import { apply } from '../requests/apply.ts'
import { isAdminOfRequest } from '../requests/cancel.ts'
import { isRevocable, judgeRevocation } from '../requests/machine/revocation.ts'
import { whoToAsk } from '../requests/notes.ts'
import { findRequest } from '../requests/read.ts'
import type { RequestDeps } from '../requests/request-deps.ts'
import { lockUnchanged } from './give-back.ts'

/**
 * Revokes the access that a request granted, together with other requests that grant the person the same
 * access, which would otherwise stay. Pending requests for it are cancelled, because an approval would grant
 * it again. If one of the requests cannot be revoked, none is. If the access was already revoked, nothing
 * happens.
 *
 * @param reason Visible to everybody who can see the request.
 * @throws CoreError `forbidden` if the caller is not responsible for the app, `not_found`, `conflict` if
 *   nothing can be revoked
 */
export async function revokeAccess(
  db: Db,
  principal: Principal,
  id: string,
  reason: string,
  deps: RequestDeps,
): Promise<void> {
  const said = keptText(reason.trim(), reason.length)
  await db.transaction(async (tx) => {
    const { granted, waiting } = await affected(tx, principal, id)
    for (const request of granted)
      await apply(tx, request, { kind: 'revocation_ordered', by: principal, reason: said }, deps)
    for (const request of waiting)
      await apply(tx, request, { kind: 'cancelled', by: principal, reason: said }, deps)
  })
}

/** Requests that a revocation changes. Both lists are empty if it was already done. */
type Affected = { granted: RequestRow[]; waiting: RequestRow[] }

/**
 * Returns the requests that a revocation would end. Locks the rows until the transaction ends.
 *
 * @throws CoreError as `revokeAccess`
 */
export async function affected(tx: Db, principal: Principal, id: string): Promise<Affected> {
  const named = await findRequest(tx, principal, id)
  if (!(await isAdminOfRequest(tx, principal, named))) throw await notTheirs(tx, principal, named)
  const same = await lockUnchanged(tx, named)
  // Finished requests, and those being revoked, are not in this list. The request may have ended since it was
  // read.
  const now = same.find((one) => one.id === named.id) ?? (await findRequest(tx, principal, id))
  if (!(await requireRevocable(tx, now))) return { granted: [], waiting: [] }
  const granted = same.filter(({ status }) => isRevocable(status))
  for (const one of granted) await requireRevocable(tx, one)
  const waiting = same.filter(({ status, policyId }) => !isRevocable(status) && policyId === null)
  return { granted, waiting }
}

/**
 * Reports whether the access is to be revoked. False if that was already done.
 *
 * @throws CoreError `conflict`
 */
async function requireRevocable(tx: Db, request: RequestRow): Promise<boolean> {
  const { policyId } = request
  const [policy] =
    policyId === null
      ? []
      : await tx
          .select({ name: accessPolicies.name })
          .from(accessPolicies)
          .where(eq(accessPolicies.id, policyId))
  const verdict = judgeRevocation(request, policy?.name ?? null)
  if (verdict.kind === 'refused') throw conflict(verdict.words)
  return verdict.kind === 'revoke'
}

async function notTheirs(
  db: Db,
  { userId }: Principal,
  { appId, domainId, targetUserId }: RequestRow,
): Promise<CoreError> {
  const ask = (await whoToAsk(db, domainId, await appsOf(db, [appId]))).get(appId) ?? ''
  const instead = userId === targetUserId ? ' You can give back access that you hold yourself.' : ''
  const words = `Only an admin, or an admin of the app, can revoke what a request granted.${instead} ${ask}`
  return forbidden(words.trim())
}

/**
 * Way to revoke the access of a request: by changing the policy that grants it, or through the request itself
 * if `policy` is null.
 */
type Revocation = { policy: { id: string; name: string } | null }

/** Returns how the caller may try to revoke the access of a request, or null if they may not. */
export async function revocationOf(
  db: Db,
  principal: Principal,
  { id, app_id: appId, status }: { id: string; app_id: string; status: RequestRow['status'] },
): Promise<Revocation | null> {
  if (principal.readOnly || !isRevocable(status)) return null
  if (!(await isAdminOfRequest(db, principal, { appId }))) return null
  const [policy = null] = await db
    .select({ id: accessPolicies.id, name: accessPolicies.name })
    .from(accessRequests)
    .innerJoin(accessPolicies, eq(accessPolicies.id, accessRequests.policyId))
    .where(eq(accessRequests.id, id))
  return { policy }
}
