/**
 * Provisioning group of a permission: access is then granted as membership of the group, in the group's app.
 */
import { and, eq } from 'drizzle-orm'
import { type CoreError, invalidAt } from '../../../contract/errors/problem.ts'
import type { Db } from '../../../database/database.ts'
import type { StoredDocument } from '../../../database/schema/app_store.ts'
import { apps } from '../../../database/schema/apps.ts'
import { groups } from '../../../database/schema/people.ts'
import { reach } from '../../kernel/identity/app-reach.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { fulfillmentOf } from './permission-change.ts'

const refused = (loc: readonly string[], words: string): CoreError =>
  invalidAt([...loc, 'request_fulfillment_config', 'provisioning_group'], `Value error, ${words}`)

/**
 * Refuses a group of an app that the caller does not manage: they would grant access that is not theirs to
 * grant.
 *
 * @param loc path of the configuration in the body
 * @throws CoreError `invalid`
 */
export async function ownProvisioningGroup(
  tx: Db,
  principal: Principal,
  config: StoredDocument,
  loc: readonly string[],
): Promise<void> {
  const wanted = fulfillmentOf(config)['provisioning_group']
  if (typeof wanted !== 'string') return
  const [group] = await tx.select({ appId: groups.appId }).from(groups).where(eq(groups.id, wanted))
  if (!group || group.appId === null) return
  const managed = reach(principal, 'appstore.write')
  const [app] = await tx
    .select({ id: apps.id })
    .from(apps)
    .where(and(eq(apps.id, group.appId), managed))
  if (!app) throw refused(loc, 'the group belongs to an app that you do not manage')
}

/** Refuses a change of the provisioning group. @throws CoreError `invalid` */
export function sameProvisioningGroup(
  before: StoredDocument,
  change: StoredDocument,
  loc: readonly string[],
): void {
  const wanted = fulfillmentOf(change)['provisioning_group']
  if (!wanted || wanted === fulfillmentOf(before)['provisioning_group']) return
  throw refused(loc, 'it cannot be changed; create a new permission with the other group')
}
