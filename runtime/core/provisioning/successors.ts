/**
 * The accounts that a person has instead of one that is not there. Directories and databases name accounts by what an
 * operator can change, such as a DN or a user's name: one that was renamed or moved answers `not_found`, and gives
 * access all the same.
 */
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import { isNamed, type Listed } from './account.ts'
import { type AppClient, failedCall, type StepOutcome, type SystemAnswer } from './client.ts'
import { statusOf } from './read-back.ts'
import { GONE } from './standings.ts'

/** Whose account it was; `email` is the account's own address, where it has one. */
export type AccountOwner = { userId: string | null; email?: string | null }

/** Most that one person is thought to have in one system. */
const MOST = 20

/** Accounts that the owner has since, by their ids; none while `account` is there, and where nothing can be asked. */
export async function successorsOf(
  db: Db,
  carrier: AppClient,
  account: string,
  owner: AccountOwner,
): Promise<SystemAnswer<string[]>> {
  const none: SystemAnswer<string[]> = { ok: true, value: [] }
  if (!carrier.has('list_accounts')) return none
  // What is read here is no evidence of what was taken.
  const { looked: _, ...unwatched } = carrier
  const status = await statusOf(unwatched, account)
  if (!status.ok) return status
  if (status.value !== null) return none
  const listed = await listedFor(unwatched, await addressesOf(db, owner))
  if (!listed.ok) return listed
  return { ok: true, value: await newerThan(db, carrier.app.id, account, owner, listed.value) }
}

/** Takes something from an account; where that is not there, from what its owner has since. */
export async function takeWhereverItIs(
  db: Db,
  carrier: AppClient,
  account: string,
  owner: AccountOwner,
  take: (account: string) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const first = await take(account)
  if (!first.ok || !first.found) return first
  const since = await successorsOf(db, carrier, account, owner)
  if (!since.ok) return failedCall(since.error)
  let found = true
  for (const id of since.value) {
    const next = await take(id)
    if (!next.ok) return next
    found &&= next.found
  }
  return { ok: true, found }
}

async function addressesOf(db: Db, { userId, email }: AccountOwner): Promise<string[]> {
  const [user] =
    userId === null
      ? []
      : await db.select({ email: users.email }).from(users).where(eq(users.id, userId))
  return [user?.email, email].flatMap((one) => (one ? [one.toLowerCase()] : []))
}

/** What the system lists for one of these addresses. */
async function listedFor(carrier: AppClient, wanted: string[]): Promise<SystemAnswer<string[]>> {
  const ids: string[] = []
  if (wanted.length === 0) return { ok: true, value: ids }
  const end = await carrier.eachPage<Listed>('list_accounts', {}, (items) => {
    for (const item of items)
      if (wanted.some((one) => isNamed(item, one))) ids.push(item.integration_specific_id)
    return ids.length < MOST
  })
  return end.ok ? { ok: true, value: ids.slice(0, MOST) } : end
}

/**
 * Of what is listed, and of what is known to be the owner's: the accounts that no sync has seen beside the missing one.
 * Those were another account of the same person already.
 */
async function newerThan(
  db: Db,
  appId: string,
  missing: string,
  { userId }: AccountOwner,
  listed: string[],
): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    with last_seen as (
      select case when missing.seen_run is null then missing.discovered_at
        else (select ended_at from sync_runs where id = missing.seen_run) end as moment
      from accounts missing where missing.app_id = ${appId} and missing.unique_identifier = ${missing})
    select id from (
      select unique_identifier as id from accounts where app_id = ${appId} and user_id = ${userId}::uuid
        and coalesce(status, '') <> all(${sql.param([...GONE])}::text[])
      union
      select unnest(${sql.param(listed)}::text[])) as found
    where id <> ${missing} and not exists (
      select from accounts known where known.app_id = ${appId} and known.unique_identifier = found.id
        and (known.discovered_at > (select moment from last_seen)) is not true)
    order by id limit ${MOST}`)
  return rows.map(({ id }) => id)
}
