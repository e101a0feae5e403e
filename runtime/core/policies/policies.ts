/** Records of access policies. */

import { and, eq, inArray, isNotNull, isNull } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import { bodyEntry, CoreError, type ValidationEntry } from '../../contract/errors/problem.ts'
import {
  type AccessPolicyInput,
  type AccessPolicyOutput,
  asCondition,
  type PolicyApp,
} from '../../contract/models/access-policy.ts'
import { attributesIn, type Condition, hasExpression } from '../../contract/models/condition.ts'
import { type Db, written } from '../../database/database.ts'
import { accessPolicies, type PolicyRow } from '../../database/schema/policies.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { changedMembers } from '../catalogue/store/merge.ts'
import { unusedAttributes, warnOfUnusedAttributes } from '../directory/attribute-names.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { rowOfId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { keptText } from '../kernel/kept-text.ts'
import { orderOf } from '../kernel/list/order.ts'
import { selectPage } from '../kernel/list/page.ts'
import { hasPart } from '../kernel/list/search.ts'
import { thingLabels } from '../kernel/thing-labels.ts'
import { statesThatAre } from '../requests/machine/states.ts'
import type { RequestDeps } from '../requests/request-deps.ts'
import { sweepAgain } from './changed.ts'
import { isInForce } from './entitlements.ts'

const SORTED = { created: accessPolicies.createdAt, name: accessPolicies.name }

/** Lists the policies of the caller's domain. */
export async function listPolicies(
  db: Db,
  principal: Principal,
  query: QueryOf<'list_access_policies'>,
) {
  const where = and(
    eq(accessPolicies.domainId, principal.domainId),
    isNull(accessPolicies.deletedAt),
    query.name ? hasPart(accessPolicies.name, query.name) : undefined,
  )
  const order = orderOf(SORTED, query.sort ?? '-created', accessPolicies.id)
  return selectPage(db, accessPolicies, { where, order }, query, (rows) => answers(db, rows))
}

/** Returns a policy in its wire format. @throws CoreError not_found */
export async function getPolicy(db: Db, principal: Principal, id: string) {
  return (await answers(db, [await findPolicy(db, principal, id, false)]))[0]
}

/**
 * Creates a policy. A policy in force grants its access in the background.
 *
 * @throws CoreError `invalid` if the body refers to something that does not exist, or cannot be in force
 */
export async function createPolicy(
  db: Db,
  principal: Principal,
  body: AccessPolicyInput,
  deps: PolicyDeps,
) {
  const made = await db.transaction(async (tx) => {
    const values = await policyRowOf(tx, principal, body)
    const { domainId } = principal
    const [row] = await tx
      .insert(accessPolicies)
      .values({ domainId, ...values })
      .returning()
    const made = written(row)
    if (isInForce(made)) await evaluate(tx, made, deps)
    await record(tx, principal, 'CREATED', made, {})
    return made
  })
  return told(db, made, deps)
}

type PolicyDeps = RequestDeps & Pick<CoreContext, 'tell'>

/** Returns the paths of the attributes that a condition uses and no user has. */
export const missingAttributes = (
  db: Db,
  { domainId }: Pick<Principal, 'domainId'>,
  condition: Condition | null,
): Promise<string[]> => unusedAttributes(db, domainId, attributesIn(condition))

/** Returns the result of a change. Logs attributes that the condition uses and no user has. */
async function told(db: Db, row: PolicyRow, { tell }: PolicyDeps) {
  const about = { access_policy: row.id }
  await warnOfUnusedAttributes(db, row.domainId, attributesIn(row.condition), { tell, about })
  return (await answers(db, [row]))[0]
}

/** Replaces a policy. The background grants and revokes access accordingly. */
export async function putPolicy(
  db: Db,
  principal: Principal,
  id: string,
  body: AccessPolicyInput,
  deps: PolicyDeps,
) {
  const changed = await db.transaction(async (tx) => {
    const before = await findPolicy(tx, principal, id, true)
    const values = await policyRowOf(tx, principal, body)
    const [row] = await tx
      .update(accessPolicies)
      .set(values)
      .where(eq(accessPolicies.id, before.id))
      .returning()
    const changed = changedMembers(before, { ...before, ...values })
    if (changed.length > 0) await record(tx, principal, 'UPDATED', written(row), { changed })
    if (changed.some((member) => WEIGHTY.includes(member.split('.')[0] ?? ''))) {
      await forgetRefusals(tx, before)
      await evaluate(tx, before, deps)
    }
    return written(row)
  })
  return told(db, changed, deps)
}

/** Members of a policy that affect who gets which access. */
const WEIGHTY = ['status', 'isEnabled', 'isEveryone', 'condition', 'apps']

/** Restarts the sweep of a policy over all users. */
async function evaluate(tx: Db, { id }: PolicyRow, { send }: RequestDeps): Promise<void> {
  await tx
    .update(accessPolicies)
    .set({ ...sweepAgain, problem: null })
    .where(eq(accessPolicies.id, id))
  await send(tx, 'access-policies', id)
}

/** Forgets the refusals of approvers: they refused the old policy, and may approve the new one. */
async function forgetRefusals(tx: Db, { id }: PolicyRow): Promise<void> {
  await tx
    .update(accessRequests)
    .set({ policyFor: null })
    .where(
      and(
        eq(accessRequests.policyId, id),
        isNotNull(accessRequests.policyFor),
        inArray(accessRequests.status, statesThatAre('over')),
      ),
    )
}

/** Deletes a policy. The background revokes the access it granted, then deletes the row. */
export async function deletePolicy(
  db: Db,
  principal: Principal,
  id: string,
  deps: RequestDeps,
): Promise<void> {
  await db.transaction(async (tx) => {
    const policy = await findPolicy(tx, principal, id, true)
    const deletedAt = await deps.now(tx)
    await tx.update(accessPolicies).set({ deletedAt }).where(eq(accessPolicies.id, policy.id))
    await evaluate(tx, policy, deps)
    await record(tx, principal, 'DELETED', policy, {})
  })
}

/** Returns the row of a policy. @throws CoreError not_found */
export const findPolicy = (db: Db, principal: Principal, id: string, locked: boolean) =>
  rowOfId(db, accessPolicies, 'Access policy', principal, id, {
    lock: locked && 'update',
    where: isNull(accessPolicies.deletedAt),
  })

/** Returns the columns of a policy. @throws CoreError `invalid` if it refers to a missing object */
export async function policyRowOf(tx: Db, { domainId }: Principal, body: AccessPolicyInput) {
  const isEveryone = body.is_everyone_condition ?? false
  const condition = body.access_condition === undefined ? null : asCondition(body.access_condition)
  const isInForce = body.status === 'PUBLISHED' && body.is_enabled === true
  const wrong: ValidationEntry[] = []
  if (condition === null && !isEveryone)
    wrong.push(bodyEntry(['access_condition'], 'needed, unless is_everyone_condition is true'))
  if (condition !== null && isInForce && hasExpression(condition))
    wrong.push(
      bodyEntry(
        ['access_condition'],
        'a lumos_expression cannot be evaluated here: write the condition with operators, or keep the policy a draft',
      ),
    )
  const wanted = body.apps.map(
    ({ id, is_preapproved = false, permissions = [] }): PolicyApp => ({
      id,
      is_preapproved,
      permissions: [...new Set(permissions.map((one) => one.id))],
    }),
  )
  wrong.push(...(await missing(tx, domainId, wanted)))
  if (wrong.length > 0) throw new CoreError('invalid', wrong.slice(0, 100))
  return {
    name: body.name,
    businessJustification: body.business_justification,
    status: body.status ?? ('DRAFT' as const),
    isEnabled: body.is_enabled ?? false,
    isEveryone,
    condition: isEveryone ? null : condition,
    apps: wanted,
  }
}

/** Reports apps that are named twice or do not exist, and permissions of other apps. */
async function missing(
  tx: Db,
  domainId: string,
  wanted: readonly PolicyApp[],
): Promise<ValidationEntry[]> {
  const { labels, owners } = await namesOf(tx, wanted, domainId)
  return wanted.flatMap(({ id, permissions }, index) => {
    if (wanted.findIndex((one) => one.id === id) < index)
      return [bodyEntry(['apps', index, 'id'], 'the app is already listed')]
    if (!labels.has(id)) return [bodyEntry(['apps', index, 'id'], 'there is no such app')]
    return permissions.flatMap((permission, at) =>
      owners.get(permission) === id
        ? []
        : [bodyEntry(['apps', index, 'permissions', at, 'id'], 'the app has no such permission')],
    )
  })
}

/** Returns the names of apps and permissions by id, given as pairs of an app id and a permission id. */
export async function thingNames(
  db: Db,
  domainId: string,
  pairs: readonly (readonly string[])[],
): Promise<Map<string, string>> {
  const wanted = pairs.map(([id = '', ...permissions]) => ({
    ...{ id, permissions, is_preapproved: false },
  }))
  return (await namesOf(db, wanted, domainId)).labels
}

/** Returns the labels of apps and permissions, and the app that owns each permission. */
async function namesOf(db: Db, wanted: readonly PolicyApp[], domainId: string) {
  const { apps, permissions, owners } = await thingLabels(db, domainId, {
    apps: wanted.map(({ id }) => id),
    permissions: wanted.flatMap((app) => app.permissions),
  })
  return { labels: new Map([...apps, ...permissions]), owners }
}

/** Converts policies to their wire format. Leaves out items deleted since. */
async function answers(db: Db, rows: readonly PolicyRow[]): Promise<AccessPolicyOutput[]> {
  const [first] = rows
  if (!first) return []
  const { labels } = await namesOf(
    db,
    rows.flatMap((row) => row.apps),
    first.domainId,
  )
  const named = (id: string) => {
    const label = labels.get(id)
    return label === undefined ? [] : [{ id, label }]
  }
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    business_justification: row.businessJustification,
    status: row.status,
    is_enabled: row.isEnabled,
    apps: row.apps.flatMap(({ id, is_preapproved, permissions }) => {
      const left = permissions.flatMap(named)
      // Without its permissions, the entry would look like one for the app itself.
      if (permissions.length > 0 && left.length === 0) return []
      return named(id).map((one) => ({ ...one, is_preapproved, permissions: left }))
    }),
    access_condition: row.condition ?? {},
    is_everyone_condition: row.isEveryone,
  }))
}

const record = (
  tx: Db,
  principal: Principal,
  what: 'CREATED' | 'UPDATED' | 'DELETED',
  { id, name }: PolicyRow,
  metadata: Record<string, unknown>,
) => {
  const target = { target_type: 'AccessPolicy', name: keptText(name, 200), id }
  return recordActivity(tx, principal, `ACCESS_POLICY_${what}`, [target], metadata)
}
