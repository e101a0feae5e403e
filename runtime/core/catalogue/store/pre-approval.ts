/**
 * Pre-approval rules: users and requests that need no approval. Their lists are sets, stored in the order
 * written.
 */

import { and, asc, eq } from 'drizzle-orm'
import { notFound } from '../../../contract/errors/problem.ts'
import type {
  PreApprovalRuleInput,
  PreApprovalRuleUpdateInput,
} from '../../../contract/models/pre-approval-rule.ts'
import type { Permission } from '../../../contract/models/roles.ts'
import { type Db, one } from '../../../database/database.ts'
import { preApprovalRules, type StoredDocument } from '../../../database/schema/app_store.ts'
import { type AppRow, apps } from '../../../database/schema/apps.ts'
import { warnOfUnusedAttributes } from '../../directory/attribute-names.ts'
import { isId } from '../../kernel/by-id.ts'
import type { CoreContext } from '../../kernel/context/context.ts'
import { reach } from '../../kernel/identity/app-reach.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { keptText } from '../../kernel/kept-text.ts'
import { type PageQuery, selectPage } from '../../kernel/list/page.ts'
import { findApp, lockApp } from '../apps/apps.ts'
import { changedMembers, mergePatch } from './merge.ts'
import { recordInStore } from './record.ts'
import { type ReferencePlace, toIds, toObjects } from './references.ts'

type RuleRow = typeof preApprovalRules.$inferSelect

const DEFAULTS: StoredDocument = {
  time_based_access: [],
  preapproved_groups: [],
  preapproved_permissions: [],
  preapproved_users_by_attribute: [],
  preapproval_webhooks: [],
}

const PLACES: readonly ReferencePlace[] = [
  { path: ['preapproved_groups', '*'], kind: 'group' },
  { path: ['preapproved_permissions', '*'], kind: 'permission' },
  { path: ['preapproval_webhooks', '*'], kind: 'webhook', hookType: 'PRE_APPROVAL' },
]

async function answer(db: Db, principal: Principal, app: AppRow, rows: RuleRow[]) {
  const documents = rows.map(({ id, document }) => ({
    ...DEFAULTS,
    ...document,
    id,
    app_id: app.id,
    app_class_id: app.appClassId,
    app_instance_id: app.instanceId,
  }))
  return toObjects(db, principal, documents, PLACES)
}

export async function listRules(db: Db, principal: Principal, appId: string, query: PageQuery) {
  const app = await findApp(db, principal, appId, 'appstore.read')
  const where = eq(preApprovalRules.appId, app.id)
  const order = [asc(preApprovalRules.createdAt), asc(preApprovalRules.id)]
  return selectPage(db, preApprovalRules, { where, order }, query, (rows) =>
    answer(db, principal, app, rows),
  )
}

/** Reads a rule of an app that a permission reaches. Locks it for a change. @throws CoreError `not_found` */
async function findRule(db: Db, principal: Principal, id: string, permission: Permission) {
  const reached = reach(principal, permission)
  const question = db
    .select({ rule: preApprovalRules, app: apps })
    .from(preApprovalRules)
    .innerJoin(apps, eq(apps.id, preApprovalRules.appId))
    .where(
      and(eq(preApprovalRules.id, id), eq(preApprovalRules.domainId, principal.domainId), reached),
    )
  const locked = () => question.for('update', { of: preApprovalRules })
  const [row] = isId(id) ? await (permission === 'appstore.write' ? locked() : question) : []
  if (!row) throw notFound('Pre-approval rule')
  return row
}

export async function getRule(db: Db, principal: Principal, id: string) {
  const { rule, app } = await findRule(db, principal, id, 'appstore.read')
  return (await answer(db, principal, app, [rule]))[0]
}

/** Creates a rule. @throws CoreError `not_found` for the app, `invalid` for references to missing objects */
export async function createRule(
  db: Db,
  principal: Principal,
  body: PreApprovalRuleInput,
  deps: RuleDeps,
) {
  const { app_id: appId, ...rest } = body
  const { app, made } = await db.transaction(async (tx) => {
    const app = await lockApp(tx, principal, appId, 'appstore.write')
    const document = await toIds(tx, principal, rest, {
      places: PLACES,
      loc: ['body'],
      appId: app.id,
    })
    const made = one(
      await tx
        .insert(preApprovalRules)
        .values({ domainId: principal.domainId, appId: app.id, document })
        .returning(),
    )
    await recordInStore(tx, principal, 'APP_STORE_PRE_APPROVAL_RULE_CREATED', targetOf(made), app)
    return { app, made }
  })
  await told(db, made, body, deps)
  return (await answer(db, principal, app, [made]))[0]
}

type RuleDeps = Pick<CoreContext, 'tell'>

/** Logs the attributes in a rule that no user has. */
const told = (
  db: Db,
  { id, domainId }: RuleRow,
  { preapproved_users_by_attribute: asked = [] }: PreApprovalRuleUpdateInput,
  { tell }: RuleDeps,
): Promise<void> =>
  warnOfUnusedAttributes(
    db,
    domainId,
    asked.map(({ attribute }) => attribute),
    { tell, about: { pre_approval_rule: id } },
  )

export async function updateRule(
  db: Db,
  principal: Principal,
  id: string,
  body: PreApprovalRuleUpdateInput,
  deps: RuleDeps,
) {
  const { app, row } = await db.transaction(async (tx) => {
    const { rule, app } = await findRule(tx, principal, id, 'appstore.write')
    const change = await toIds(tx, principal, body, {
      places: PLACES,
      loc: ['body'],
      appId: app.id,
    })
    const document = mergePatch(rule.document, change)
    const row = one(
      await tx
        .update(preApprovalRules)
        .set({ document })
        .where(eq(preApprovalRules.id, rule.id))
        .returning(),
    )
    const changed = changedMembers({ ...DEFAULTS, ...rule.document }, { ...DEFAULTS, ...document })
    const event = 'APP_STORE_PRE_APPROVAL_RULE_UPDATED'
    if (changed.length > 0)
      await recordInStore(tx, principal, event, targetOf(rule), app, { changed })
    return { app, row }
  })
  await told(db, row, body, deps)
  return (await answer(db, principal, app, [row]))[0]
}

export async function deleteRule(db: Db, principal: Principal, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const { rule, app } = await findRule(tx, principal, id, 'appstore.write')
    await tx.delete(preApprovalRules).where(eq(preApprovalRules.id, rule.id))
    await recordInStore(tx, principal, 'APP_STORE_PRE_APPROVAL_RULE_DELETED', targetOf(rule), app)
  })
}

const targetOf = ({ id, document }: RuleRow) => ({
  target_type: 'PreApprovalRule',
  name: keptText(String(document['justification']), 200),
  id,
})
