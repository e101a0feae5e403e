/**
 * What higher floors do when something on a lower one changes. The directory and the catalogue know neither
 * policies nor requests: they call these functions, which core/wiring hands in, within the transaction of
 * the change.
 */
import type { Db } from '../../../database/database.ts'
import type { SendJob } from './send.ts'

/** More users than these are told as `all`: policies look at everybody then, in batches. */
export const MANY_USERS = 1000

export type Listeners = {
  /**
   * Users changed: attributes, status, manager. Called after the users were written.
   *
   * @param means Null where no background work can be told: then the change is found within two seconds.
   */
  usersChanged(
    tx: Db,
    domainId: string,
    userIds: readonly string[] | 'all',
    means: { send: SendJob } | null,
  ): Promise<void>
  /** What can be given in an app changed: its connection, or one of its permissions. */
  appChanged(tx: Db, app: { id: string; domainId: string }): Promise<void>
  /**
   * What people hold in an app changed, or may be something else that is wrong with it: a sync ended, access was given
   * or taken. Without an app: what is about no single app, such as a rule of separation of duties.
   */
  accessChanged(tx: Db, where: { domainId: string; appId: string | null }): Promise<void>
  /** A permission is about to be locked and deleted: what refers to it is locked before it. */
  permissionLocked(tx: Db, permissionId: string): Promise<void>
  /** A locked permission is about to be deleted. */
  permissionDeleted(
    tx: Db,
    permissionId: string,
    means: { send: SendJob; now(db: Db): Promise<Date>; listeners: Listeners },
  ): Promise<void>
}
