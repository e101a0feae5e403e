/**
 * Accounts that a person has in place of a missing one. Directories and databases name accounts by values
 * that an operator can change, such as a DN or a user name: a renamed or moved account answers `not_found`,
 * but still gives access.
 */
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import { faultOf } from '../kernel/faults.ts'
import { isKeepable, MAX_ACCOUNT_ID } from '../kernel/kept-text.ts'
import { isNamed, type Listed } from './account.ts'
import { type AppClient, failedCall, type StepOutcome, type SystemAnswer } from './client.ts'
import { statusOf } from './read-back.ts'
import { GONE } from './standings.ts'

/** Maximum number of accounts considered for one person in one system. */
const MAX_ACCOUNTS = 20
/** Maximum number of accounts examined that a system lists for one address. */
const MAX_LISTED = 1000

/**
 * Returns the ids of accounts that a person has in place of a missing one. Returns none while `account`
 * exists, if it has no owner, or if the system cannot be asked.
 */
export async function successorsOf(
  db: Db,
  carrier: AppClient,
  account: string,
  userId: string | null,
): Promise<SystemAnswer<string[]>> {
  const none: SystemAnswer<string[]> = { ok: true, value: [] }
  if (userId === null || !carrier.has('list_accounts')) return none
  // These readings are no evidence of the revocation.
  const unwatched = withoutEvidence(carrier)
  const status = await statusOf(unwatched, account)
  if (!status.ok) return unlessRefused(status)
  if (status.value !== null) return none
  const { id: appId } = carrier.app
  const known = await newerThan(db, appId, account, userId, [])
  if (known.length === 0 && (await isGoneForSure(db, appId, account))) return none
  const listed = await listedFor(unwatched, await addressOf(db, userId))
  if (!listed.ok) return unlessRefused(listed)
  return { ok: true, value: await newerThan(db, appId, account, userId, listed.value) }
}

/** Returns a client whose readings are not kept as evidence, because they concern another account. */
export function withoutEvidence(carrier: AppClient): AppClient {
  const { looked: _, ...unwatched } = carrier
  return unwatched
}

/** Revokes access from an account or, if it does not exist, from the owner's newer accounts. */
export async function revokeFromSuccessors(
  db: Db,
  carrier: AppClient,
  account: string,
  userId: string | null,
  take: (account: string) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const first = await take(account)
  if (!first.ok || !first.found) return first
  const since = await successorsOf(db, carrier, account, userId)
  if (!since.ok) return failedCall(since.error)
  let found = true
  for (const id of since.value) {
    const next = await take(id)
    if (!next.ok) return next
    found &&= next.found
  }
  return { ok: true, found }
}

/** Treats a refused call as an empty answer. Other failures may hide accounts, and stay failures. */
const unlessRefused = (
  failed: Extract<SystemAnswer<never>, { ok: false }>,
): SystemAnswer<string[]> =>
  faultOf(failed.error.error_code).reach === 'refused' ? { ok: true, value: [] } : failed

async function addressOf(db: Db, userId: string): Promise<string> {
  const [user] = await db.select({ email: users.email }).from(users).where(eq(users.id, userId))
  return (user?.email ?? '').toLowerCase()
}

/** Reports whether a complete sync confirmed a removal: it listed and matched all other accounts. */
async function isGoneForSure(db: Db, appId: string, account: string): Promise<boolean> {
  const { rows } = await db.execute<{ is: boolean }>(sql`
    select exists (select from accounts gone join sync_runs run on run.app_id = gone.app_id
      where gone.app_id = ${appId} and gone.unique_identifier = ${account}
        and run.state = 'SUCCEEDED' and run.ended_at >= gone.gone_at) as is`)
  return rows[0]?.is ?? false
}

type ListedAccount = Listed & { account_type?: string | null }

/**
 * Returns the accounts that the system lists for an address, except service accounts, which may have the
 * address of a person who looks after them.
 */
async function listedFor(carrier: AppClient, address: string): Promise<SystemAnswer<string[]>> {
  const ids = new Set<string>()
  if (address === '') return { ok: true, value: [] }
  const end = await carrier.eachPage<ListedAccount>('list_accounts', {}, (items) => {
    for (const item of items) {
      const { integration_specific_id: id, account_type: type } = item
      const isOne = type !== 'service' && isNamed(item, address)
      if (isOne && isKeepable(id, MAX_ACCOUNT_ID)) ids.add(id)
    }
    return ids.size < MAX_LISTED
  })
  return end.ok ? { ok: true, value: [...ids] } : end
}

/**
 * Returns the listed accounts, and the known ones of the person, that belong to no other person and did not
 * exist at the same time as the missing one. Accounts that did are further accounts of the same person.
 */
async function newerThan(
  db: Db,
  appId: string,
  missing: string,
  userId: string,
  listed: string[],
): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    with missing as (
      select id, seen_run, discovered_at from accounts
      where app_id = ${appId} and unique_identifier = ${missing})
    select id from (
      select unique_identifier as id from accounts where app_id = ${appId} and user_id = ${userId}::uuid
        and coalesce(status, '') <> all(${sql.param([...GONE])}::text[])
      union
      select unnest(${sql.param(listed)}::text[])) as found
    where id <> ${missing} and not exists (
      select from accounts known where known.app_id = ${appId} and known.unique_identifier = found.id
        and (known.user_id <> ${userId}::uuid or known.account_type <> 'USER' or ${BESIDE}))
    order by id limit ${MAX_ACCOUNTS}`)
  return rows.map(({ id }) => id)
}

/**
 * Condition that `known` existed at the same time as `missing`: by their spans if both have some, else by the
 * end of the run that saw `missing` last.
 */
const BESIDE = sql`
  case when exists (select from account_spans s where s.account_id = known.id)
      and exists (select from account_spans m where m.account_id = (select id from missing))
    then exists (
      select from account_spans s join account_spans m on m.account_id = (select id from missing)
      where s.account_id = known.id and s.since < coalesce(m.until, 'infinity')
        and m.since < coalesce(s.until, 'infinity'))
    else (known.discovered_at > (
      select case when seen_run is null then discovered_at
        else (select ended_at from sync_runs where sync_runs.id = missing.seen_run) end
      from missing)) is not true
  end`
