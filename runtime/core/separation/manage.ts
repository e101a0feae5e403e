/** Records of rules of separation of duties. */

import { and, desc, eq, inArray } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import {
  bodyEntry,
  CoreError,
  conflict,
  type ValidationEntry,
} from '../../contract/errors/problem.ts'
import type { SeparationInput, SeparationRule } from '../../contract/models/separation.ts'
import { type Db, written } from '../../database/database.ts'
import {
  type SeparationRow,
  type SeparationSide,
  separationRules,
} from '../../database/schema/findings.ts'
import { groups, users } from '../../database/schema/people.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { distinctIds, isId, rowOfId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { requireBelowLimit } from '../kernel/count-limit.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { keptText } from '../kernel/kept-text.ts'
import { selectPage } from '../kernel/list/page.ts'
import { hasPart } from '../kernel/list/search.ts'
import { thingLabels } from '../kernel/thing-labels.ts'
import { ruleTargets } from './holdings.ts'
import { overlap } from './rules.ts'

type Deps = Pick<CoreContext, 'listeners'>

/** Lists the rules of a domain, newest first. */
export async function listSeparationRules(
  db: Db,
  { domainId }: Principal,
  query: QueryOf<'list_separation_rules'>,
) {
  const where = and(
    eq(separationRules.domainId, domainId),
    query.name ? hasPart(separationRules.name, query.name) : undefined,
  )
  const order = [desc(separationRules.createdAt), desc(separationRules.id)]
  return selectPage(db, separationRules, { where, order }, query, (rows) => answers(db, rows))
}

/** Returns a rule in its wire format. @throws CoreError not_found */
export async function getSeparationRule(db: Db, principal: Principal, id: string) {
  return (await answers(db, [await findRule(db, principal, id, false)]))[0]
}

/**
 * Creates a rule. People who already break it keep their access; a background look finds them.
 *
 * @throws CoreError `conflict` if there are too many, `invalid` if the body refers to something that does not
 * exist
 */
export async function createSeparationRule(
  db: Db,
  principal: Principal,
  body: SeparationInput,
  deps: Deps,
) {
  return db.transaction(async (tx) => {
    const { domainId } = principal
    const values = await valuesOf(tx, principal, body)
    await requireBelowLimit(
      tx,
      { limit: 'separation_rules', owner: domainId },
      () => tx.$count(separationRules, eq(separationRules.domainId, domainId)),
      (most) =>
        conflict(`There are already ${most} rules; delete one, or merge its sides into another`),
    )
    const [row] = await tx
      .insert(separationRules)
      .values({ domainId, ...values })
      .returning()
    const made = written(row)
    await record(tx, principal, 'CREATED', made, deps)
    return (await answers(tx, [made]))[0]
  })
}

/** Replaces a rule. @throws CoreError not_found, invalid */
export async function putSeparationRule(
  db: Db,
  principal: Principal,
  id: string,
  body: SeparationInput,
  deps: Deps,
) {
  return db.transaction(async (tx) => {
    const before = await findRule(tx, principal, id, true)
    const values = await valuesOf(tx, principal, body)
    const [row] = await tx
      .update(separationRules)
      .set(values)
      .where(eq(separationRules.id, before.id))
      .returning()
    await record(tx, principal, 'UPDATED', written(row), deps)
    return (await answers(tx, [written(row)]))[0]
  })
}

/** Deletes a rule. @throws CoreError not_found */
export async function deleteSeparationRule(
  db: Db,
  principal: Principal,
  id: string,
  deps: Deps,
): Promise<void> {
  await db.transaction(async (tx) => {
    const rule = await findRule(tx, principal, id, true)
    await tx.delete(separationRules).where(eq(separationRules.id, rule.id))
    await record(tx, principal, 'DELETED', rule, deps)
  })
}

const findRule = (db: Db, principal: Principal, id: string, locked: boolean) =>
  rowOfId(db, separationRules, 'Rule of separation of duties', principal, id, {
    lock: locked && 'update',
  })

/** Logs a change under the names of core-interface.md section 1.17, and schedules a look for broken rules. */
async function record(
  tx: Db,
  principal: Principal,
  what: 'CREATED' | 'UPDATED' | 'DELETED',
  { id, name, domainId, onRequest }: SeparationRow,
  { listeners }: Deps,
): Promise<void> {
  const target = { target_type: 'SodPolicy', name: keptText(name, 200), id }
  await recordActivity(tx, principal, `SOD_POLICY_${what}`, [target], { on_request: onRequest })
  await listeners.accessChanged(tx, { domainId, appId: null })
}

async function valuesOf(tx: Db, { domainId }: Principal, body: SeparationInput) {
  const side = ({ apps: ofApps, permissions }: SeparationInput['left']): SeparationSide => ({
    apps: distinctIds(ofApps),
    permissions: distinctIds(permissions),
  })
  const values = {
    name: body.name,
    description: body.description,
    isEnabled: body.is_enabled,
    onRequest: body.on_request,
    left: side(body.left),
    right: side(body.right),
    approverUserIds: [...new Set(body.approver_user_ids)],
    approverGroupIds: [...new Set(body.approver_group_ids)],
  }
  const wrong: ValidationEntry[] = []
  const known = await thingLabels(tx, domainId, ruleTargets([values]))
  for (const name of ['left', 'right'] as const)
    for (const what of ['apps', 'permissions'] as const)
      values[name][what].forEach((id, index) => {
        if (!known[what].has(id))
          wrong.push(
            bodyEntry(
              [name, what, index],
              `there is no such ${what === 'apps' ? 'app' : 'permission'}`,
            ),
          )
      })
  if (overlap(values).length > 0)
    wrong.push(
      bodyEntry(
        ['right'],
        'it shares an app or a permission with the left side: that alone would break the rule',
      ),
    )
  wrong.push(
    ...(await missing(tx, users, domainId, values.approverUserIds, 'approver_user_ids', 'user')),
    ...(await missing(
      tx,
      groups,
      domainId,
      values.approverGroupIds,
      'approver_group_ids',
      'group',
    )),
  )
  if (wrong.length > 0) throw new CoreError('invalid', wrong.slice(0, 100))
  return values
}

async function missing(
  tx: Db,
  table: typeof users | typeof groups,
  domainId: string,
  ids: readonly string[],
  member: string,
  what: string,
): Promise<ValidationEntry[]> {
  const wanted = ids.filter(isId)
  const rows =
    wanted.length === 0
      ? []
      : await tx
          .select({ id: table.id })
          .from(table)
          .where(and(inArray(table.id, wanted), eq(table.domainId, domainId)))
  const there = new Set(rows.map(({ id }) => id))
  return ids.flatMap((id, index) =>
    there.has(id.toLowerCase()) ? [] : [bodyEntry([member, index], `there is no such ${what}`)],
  )
}

async function answers(db: Db, rows: readonly SeparationRow[]): Promise<SeparationRule[]> {
  const [first] = rows
  if (!first) return []
  const known = await thingLabels(db, first.domainId, ruleTargets(rows))
  const named = (labels: ReadonlyMap<string, string>, ids: readonly string[]) =>
    ids.flatMap((id) => {
      const label = labels.get(id)
      return label === undefined ? [] : [{ id, label }]
    })
  const side = (one: SeparationSide) => ({
    apps: named(known.apps, one.apps),
    permissions: named(known.permissions, one.permissions),
  })
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    description: row.description,
    is_enabled: row.isEnabled,
    on_request: row.onRequest,
    left: side(row.left),
    right: side(row.right),
    approver_user_ids: row.approverUserIds,
    approver_group_ids: row.approverGroupIds,
    created_at: row.createdAt.toISOString(),
  }))
}
