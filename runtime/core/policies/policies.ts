/** Access policies as records. */

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
import { attributesOfNobody, tellOfNobody } from '../directory/attribute-names.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { rowOfId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { keptText } from '../kernel/kept-text.ts'
import { orderOf } from '../kernel/list/order.ts'
import { selectPage } from '../kernel/list/page.ts'
import { hasPart } from '../kernel/list/search.ts'
import { thingLabels } from '../kernel/thing-labels.ts'
import type { RequestMeans } from '../requests/job-key.ts'
import { statesThatAre } from '../requests/machine/states.ts'
import { sweepAgain } from './changed.ts'
import { isInForce } from './entitlements.ts'

const SORTED = { created: accessPolicies.createdAt, name: accessPolicies.name }

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

export async function getPolicy(db: Db, principal: Principal, id: string) {
  return (await answers(db, [await findPolicy(db, principal, id, false)]))[0]
}

/**
 * Makes a policy; one that is in force gives in the background.
 *
 * @throws CoreError invalid for what the body refers to and is not there, and for what cannot be in force
 */
export async function createPolicy(
  db: Db,
  principal: Principal,
  body: AccessPolicyInput,
  means: PolicyMeans,
) {
  const made = await db.transaction(async (tx) => {
    const values = await policyRowOf(tx, principal, body)
    const { domainId } = principal
    const [row] = await tx
      .insert(accessPolicies)
      .values({ domainId, ...values })
      .returning()
    const made = written(row)
    if (isInForce(made)) await evaluate(tx, made, means)
    await record(tx, principal, 'CREATED', made, {})
    return made
  })
  return told(db, made, means)
}

type PolicyMeans = RequestMeans & Pick<CoreContext, 'tell'>

/** Attributes that a condition asks about and no person has, as paths. */
export const missingAttributes = (
  db: Db,
  { domainId }: Pick<Principal, 'domainId'>,
  condition: Condition | null,
): Promise<string[]> => attributesOfNobody(db, domainId, attributesIn(condition))

/** The answer to a change; what its condition asks about and nobody has is said in the log. */
async function told(db: Db, row: PolicyRow, { tell }: PolicyMeans) {
  const about = { access_policy: row.id }
  await tellOfNobody(db, row.domainId, attributesIn(row.condition), { tell, about })
  return (await answers(db, [row]))[0]
}

/** Replaces a policy; what it gives now, and no more, follows in the background. */
export async function putPolicy(
  db: Db,
  principal: Principal,
  id: string,
  body: AccessPolicyInput,
  means: PolicyMeans,
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
      await evaluate(tx, before, means)
    }
    return written(row)
  })
  return told(db, changed, means)
}

/** Members of a policy that change who gets what. */
const WEIGHTY = ['status', 'isEnabled', 'isEveryone', 'condition', 'apps']

/** Has everybody looked at, from the beginning. */
async function evaluate(tx: Db, { id }: PolicyRow, { send }: RequestMeans): Promise<void> {
  await tx
    .update(accessPolicies)
    .set({ ...sweepAgain, problem: null })
    .where(eq(accessPolicies.id, id))
  await send(tx, 'access-policies', id)
}

/** People said no to what the policy was then: to what it is now they may say yes. */
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

/** Deletes a policy; what it gave is taken back in the background, and its row goes behind that. */
export async function deletePolicy(
  db: Db,
  principal: Principal,
  id: string,
  means: RequestMeans,
): Promise<void> {
  await db.transaction(async (tx) => {
    const policy = await findPolicy(tx, principal, id, true)
    const deletedAt = await means.now(tx)
    await tx.update(accessPolicies).set({ deletedAt }).where(eq(accessPolicies.id, policy.id))
    await evaluate(tx, policy, means)
    await record(tx, principal, 'DELETED', policy, {})
  })
}

/** @throws CoreError not_found */
export const findPolicy = (db: Db, principal: Principal, id: string, locked: boolean) =>
  rowOfId(db, accessPolicies, 'Access policy', principal, id, {
    lock: locked && 'update',
    where: isNull(accessPolicies.deletedAt),
  })

/** A policy as it is kept. @throws CoreError invalid for what it refers to and is not there */
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

/** Apps that are named twice or are not there, and permissions that are not theirs. */
async function missing(
  tx: Db,
  domainId: string,
  wanted: readonly PolicyApp[],
): Promise<ValidationEntry[]> {
  const { labels, owners } = await namesOf(tx, wanted, domainId)
  return wanted.flatMap(({ id, permissions }, index) => {
    if (wanted.findIndex((one) => one.id === id) < index)
      return [bodyEntry(['apps', index, 'id'], 'the app is there already')]
    if (!labels.has(id)) return [bodyEntry(['apps', index, 'id'], 'there is no such app')]
    return permissions.flatMap((permission, at) =>
      owners.get(permission) === id
        ? []
        : [bodyEntry(['apps', index, 'permissions', at, 'id'], 'the app has no such permission')],
    )
  })
}

/** Id -> name of apps and permissions, given as pairs of the app's id and the permission's. */
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

/** What apps and permissions are called, and whose a permission is. */
async function namesOf(db: Db, wanted: readonly PolicyApp[], domainId: string) {
  const { apps, permissions, owners } = await thingLabels(db, domainId, {
    apps: wanted.map(({ id }) => id),
    permissions: wanted.flatMap((app) => app.permissions),
  })
  return { labels: new Map([...apps, ...permissions]), owners }
}

/** Policies as on the wire. What was deleted since is left out. */
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
      // Without any of its permissions it would read as one for the app itself.
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
