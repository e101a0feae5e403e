/** The attribute `active` of a pushed person: false starts an offboarding, true lets them in again. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { userOffboardings } from '../../database/schema/offboarding.ts'
import { users } from '../../database/schema/people.ts'
import { identityEvents } from '../../database/schema/sync.ts'
import { requireRemainingAdmin } from '../directory/admins.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { hasRow } from '../kernel/has-row.ts'
import { mayAct } from '../kernel/identity/principal.ts'
import { scheduleOffboarding } from '../offboarding/schedule.ts'
import type { ScimCaller } from './caller.ts'
import { ScimError } from './problem.ts'
import type { ScimUserRow } from './read-users.ts'

type Deps = Pick<CoreContext, 'send' | 'now'>

/**
 * Suspends a person at once and starts an offboarding that revokes all access. A person who was already
 * offboarded is not changed.
 *
 * @throws CoreError `conflict` for the last Admin
 * @returns whether anything changed
 */
export async function deactivate(
  tx: Db,
  { domainId, tokenName }: ScimCaller,
  { id, status, email }: ScimUserRow,
  deps: Deps,
): Promise<boolean> {
  if (status === 'INACTIVE' && (await wasOffboarded(tx, id))) return false
  await requireRemainingAdmin(tx, domainId, new Set([id]))
  const isOn = mayAct(status)
  if (isOn) await setStatus(tx, domainId, { id, status }, 'SUSPENDED')
  const actor = { domainId, userId: null }
  const by = { source: 'SCIM', scim_token: tokenName }
  const scheduled = await scheduleOffboarding(tx, actor, { id, email }, null, deps, by)
  if (scheduled === null) await hasten(tx, id, deps)
  return isOn || scheduled !== null
}

/**
 * Reports whether a completed offboarding ended everything the person could do, and nothing has been restored
 * since. The status INACTIVE alone does not prove it: an import also sets INACTIVE, which ends nothing.
 */
async function wasOffboarded(tx: Db, userId: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select from user_offboardings o where o.user_id = ${userId} and o.status = 'COMPLETED'
      and not exists (select from identity_events e where e.user_id = o.user_id
        and e.changed_field = 'status' and e.new_value in ('ACTIVE', 'STAGED') and e.detected_at > o.created_at)
      and not exists (select from api_tokens t where t.user_id = o.user_id and t.revoked_at is null)
      and not exists (select from sessions n where n.user_id = o.user_id)`)
  return rows.length > 0
}

/** Starts an offboarding now that was scheduled for later. */
async function hasten(tx: Db, userId: string, deps: Deps): Promise<void> {
  const now = await deps.now(tx)
  const rows = await tx
    .update(userOffboardings)
    .set({ wakeAt: now })
    .where(
      and(
        eq(userOffboardings.userId, userId),
        eq(userOffboardings.status, 'SCHEDULED'),
        sql`${userOffboardings.wakeAt} > ${now.toISOString()}::timestamptz`,
      ),
    )
    .returning({ id: userOffboardings.id })
  for (const { id } of rows) await deps.send(tx, 'offboardings', id)
}

/**
 * Lets a person in again. Policies grant them the same as anybody like them.
 *
 * @throws ScimError `conflict` while an offboarding revokes their access
 * @returns whether anything changed
 */
export async function reactivate(
  tx: Db,
  { domainId }: ScimCaller,
  { id, status }: ScimUserRow,
): Promise<boolean> {
  if (status === 'ACTIVE') return false
  await requireLeft(tx, id, 'An offboarding of this user is in progress; set active to true again')
  await setStatus(tx, domainId, { id, status }, 'ACTIVE')
  return true
}

/**
 * Checks that no offboarding of a user is scheduled or in progress.
 *
 * @param words What to do when it is over, for the message.
 * @throws ScimError `conflict`
 */
export async function requireLeft(tx: Db, userId: string, words: string): Promise<void> {
  const isLive = await hasRow(
    tx,
    userOffboardings,
    eq(userOffboardings.userId, userId),
    inArray(userOffboardings.status, ['SCHEDULED', 'IN_PROGRESS']),
  )
  if (isLive) throw new ScimError('conflict', null, `${words} when it is over`)
}

async function setStatus(
  tx: Db,
  domainId: string,
  { id, status: before }: Pick<ScimUserRow, 'id' | 'status'>,
  status: 'ACTIVE' | 'SUSPENDED',
): Promise<void> {
  await tx.update(users).set({ status }).where(eq(users.id, id))
  await tx
    .insert(identityEvents)
    .values({ domainId, userId: id, changedField: 'status', oldValue: before, newValue: status })
}
