/**
 * What higher floors do when something on a lower one changes. The directory and the catalogue know neither
 * policies nor requests: they call these functions, which core/wiring hands in, within the transaction of
 * the change.
 */
import type { Db } from '../../../database/database.ts'
import type { SendJob } from './send.ts'

/** More users than these are told as `all`: policies look at everybody then, in batches. */
export const MANY_USERS = 1000

/** A user who was deleted, in whose transaction what names them is changed. */
export type DeletedUser = {
  domainId: string
  userId: string
  /** Logs a change that follows from it, in the name of who deleted them. */
  record(eventType: string, targets: Target[], metadata: Record<string, unknown>): Promise<void>
}

type Target = { target_type: string; name: string; id: string }

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
   * A user was deleted. Who gets their address next may be another person, so nothing names them any more as someone who
   * administers, approves, reviews or decides for others.
   */
  userDeleted(tx: Db, deleted: DeletedUser): Promise<void>
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
