/**
 * Handlers on higher floors for changes on lower ones. The directory and the catalogue do not know policies
 * or requests: they call these functions, which core/wiring provides, within the transaction of the change.
 */
import type { Db } from '../../../database/database.ts'
import type { SendJob } from './send.ts'

/**
 * Maximum number of users that are listed by id. More are reported as `all`, and policies look at everybody,
 * in batches.
 */
export const MANY_USERS = 1000

export type Listeners = {
  /**
   * Called after changed users were written: attributes, status, manager.
   *
   * @param deps null if no background work can be queued: the change is then found within two seconds
   */
  usersChanged(
    tx: Db,
    domainId: string,
    userIds: readonly string[] | 'all',
    deps: { send: SendJob } | null,
  ): Promise<void>
  /** Called when the access that an app offers changed: its connection, or one of its permissions. */
  appChanged(tx: Db, app: { id: string; domainId: string }): Promise<void>
  /**
   * Called when the access that people hold in an app may have changed, or another finding about the app: a
   * sync ended, or access was granted or revoked. `appId` is null for a change that concerns no single app,
   * such as a rule of separation of duties.
   */
  accessChanged(tx: Db, where: { domainId: string; appId: string | null }): Promise<void>
  /** Called before a permission is locked and deleted, to lock the records that refer to it first. */
  permissionLocked(tx: Db, permissionId: string): Promise<void>
  /** Called before a locked permission is deleted. */
  permissionDeleted(
    tx: Db,
    permissionId: string,
    deps: { send: SendJob; now(db: Db): Promise<Date>; listeners: Listeners },
  ): Promise<void>
}
