/**
 * Revoking: somebody with authority over an app ends what a request granted, at once. That is an admin, or an admin of the
 * app, as for cancelling. Approvers may not: they are chosen for a single decision, and are not responsible for the app.
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
import { answersFor } from '../requests/cancel.ts'
import type { RequestMeans } from '../requests/job-key.ts'
import { isRevocable, judgeRevocation } from '../requests/machine/revocation.ts'
import { whoToAsk } from '../requests/notes.ts'
import { findRequest } from '../requests/read.ts'
import { lockSame } from './give-back.ts'

/**
 * Has what a request granted taken back, and what other requests grant the person of the same: it would stay otherwise.
 * Those that still wait are cancelled, or a yes would give it again. Nothing is revoked where one of them cannot be, and
 * nothing happens where it was revoked before.
 *
 * @param reason Everybody reads it who sees the request.
 * @throws CoreError forbidden for who does not answer for the app, not_found, conflict where nothing can be revoked
 */
export async function revokeAccess(
  db: Db,
  principal: Principal,
  id: string,
  reason: string,
  means: RequestMeans,
): Promise<void> {
  const said = keptText(reason.trim(), reason.length)
  await db.transaction(async (tx) => {
    const { granted, waiting } = await affected(tx, principal, id)
    for (const request of granted)
      await apply(tx, request, { kind: 'revocation_ordered', by: principal, reason: said }, means)
    for (const request of waiting)
      await apply(tx, request, { kind: 'cancelled', by: principal, reason: said }, means)
  })
}

/** The requests that a revocation changes: none where it was done before. */
type Affected = { granted: RequestRow[]; waiting: RequestRow[] }

/**
 * What a revocation would end. The rows are locked until the transaction ends.
 *
 * @throws CoreError as `revokeAccess`
 */
export async function affected(tx: Db, principal: Principal, id: string): Promise<Affected> {
  const named = await findRequest(tx, principal, id)
  if (!(await answersFor(tx, principal, named))) throw await notTheirs(tx, principal, named)
  const same = await lockSame(tx, named)
  // What is over, or on its way out, is not among them: it may have ended since it was read.
  const now = same.find((one) => one.id === named.id) ?? (await findRequest(tx, principal, id))
  if (!(await demandRevocable(tx, now))) return { granted: [], waiting: [] }
  const granted = same.filter(({ status }) => isRevocable(status))
  for (const one of granted) await demandRevocable(tx, one)
  const waiting = same.filter(({ status, policyId }) => !isRevocable(status) && policyId === null)
  return { granted, waiting }
}

/** @returns whether it is to be revoked: not, where it was @throws CoreError conflict */
async function demandRevocable(tx: Db, request: RequestRow): Promise<boolean> {
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
  const instead = userId === targetUserId ? ' What you hold yourself you can give back.' : ''
  const words = `Only an admin, or an admin of the app, can revoke what a request granted.${instead} ${ask}`
  return forbidden(words.trim())
}

/** Who may revoke what a request granted does so by the policy that gives it; null: by the request. */
type Revocation = { policy: { id: string; name: string } | null }

/** How the caller may try to revoke what a request granted; null: not at all. */
export async function revocationOf(
  db: Db,
  principal: Principal,
  { id, app_id: appId, status }: { id: string; app_id: string; status: RequestRow['status'] },
): Promise<Revocation | null> {
  if (principal.readOnly || !isRevocable(status)) return null
  if (!(await answersFor(db, principal, { appId }))) return null
  const [policy = null] = await db
    .select({ id: accessPolicies.id, name: accessPolicies.name })
    .from(accessRequests)
    .innerJoin(accessPolicies, eq(accessPolicies.id, accessRequests.policyId))
    .where(eq(accessRequests.id, id))
  return { policy }
}
