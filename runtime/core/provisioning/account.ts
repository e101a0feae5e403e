/** The account of a person in an app: found, or made where there is none. */

import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Db, one } from '../../database/database.ts'
import { accounts } from '../../database/schema/apps.ts'
import { users } from '../../database/schema/people.ts'
import { type EntitlementRef, provisionedAccounts } from '../../database/schema/requests.ts'
import { faultOf } from '../kernel/faults.ts'
import { isKeepable, MAX_ACCOUNT_ID } from '../kernel/kept-text.ts'
import { type AppClient, failedCall, type StepOutcome, type SystemAnswer } from './client.ts'
import type { Pair } from './pair.ts'
import { GONE } from './standings.ts'

type ProvisionedAccountRow = typeof provisionedAccounts.$inferSelect

/** What is known of the account; a row is made if there is none. */
export async function provisionedAccountOf(
  db: Db,
  pair: Pair,
  domainId: string,
): Promise<ProvisionedAccountRow> {
  const { carriedAppId: appId, targetUserId: userId } = pair
  await db.insert(provisionedAccounts).values({ domainId, appId, userId }).onConflictDoNothing()
  return one(await db.select().from(provisionedAccounts).where(ofPair(pair)))
}

const ofPair = ({ carriedAppId, targetUserId }: Pair) =>
  and(eq(provisionedAccounts.appId, carriedAppId), eq(provisionedAccounts.userId, targetUserId))

export async function keepProvisionedAccount(
  db: Db,
  pair: Pair,
  values: Partial<Pick<ProvisionedAccountRow, 'account' | 'made' | 'making' | 'leftBy'>>,
): Promise<void> {
  await db.update(provisionedAccounts).set(values).where(ofPair(pair))
}

/**
 * Notes, before anything is sent, whether the access is there already: afterwards nobody could tell. The
 * first word counts; null takes it back, because nothing of ours was done.
 */
export type NoteThere = (preExisting: boolean | null) => Promise<void>

/** What granting needs to know in addition to the request. */
export type Giving = {
  noteThere: NoteThere
  /** Something is being taken from the same person: what is shown may be gone in a moment. */
  unsettled: boolean
}

type FoundAccount = { ok: true; account: string; found: boolean } | StepOutcome

/**
 * The account, by what is known, by the last sync, by the system's own list; null where there is none.
 * A system whose list was read lately, and to which nothing was sent since, is not asked again.
 */
export async function findAccount(
  db: Db,
  carrier: AppClient,
  pair: Pair,
): Promise<SystemAnswer<string | null>> {
  const kept = await provisionedAccountOf(db, pair, carrier.app.domainId)
  if (kept.account !== null) return { ok: true, value: kept.account }
  const known = kept.making ? undefined : (await db.execute<Known>(knownOf(pair))).rows[0]
  if (known) {
    if (known.loose) await keepMatch(db, pair.targetUserId, pair.carriedAppId)
    await keepProvisionedAccount(db, pair, { account: known.id })
    return { ok: true, value: known.id }
  }
  if (carrier.app.syncStatus === 'SUCCESS' && !kept.making) return { ok: true, value: null }
  if (!kept.making) return lookInSystem(db, carrier, pair, false)
  // Sent, and the end unknown: it is given the time that the system may take to show it.
  return accountSentFor(db, carrier, pair)
}

/** Looks until the account that was sent for is in the system's list (`until` of AppClient); null where it is not. */
async function accountSentFor(
  db: Db,
  carrier: AppClient,
  pair: Pair,
): Promise<SystemAnswer<string | null>> {
  const met = await carrier.until(async () => {
    const there = await lookInSystem(db, carrier, pair, true)
    return there.ok ? there.value !== null : there
  })
  if (!met.ok) return met
  return { ok: true, value: (await provisionedAccountOf(db, pair, carrier.app.domainId)).account }
}

type Known = { id: string; loose: boolean }

/** An account that the last sync found, the person's own first. */
const knownOf = ({ carriedAppId: appId, targetUserId: userId }: Pair): SQL => sql`
  select ${accounts.uniqueIdentifier} as id, false as loose from ${accounts}
  where ${accounts.appId} = ${appId} and ${accounts.userId} = ${userId} and ${isAccountThere}
  union all
  select ${accounts.uniqueIdentifier}, true from ${accounts}
  where ${accounts.appId} = ${appId} and ${isLooseOf(userId)}
  order by loose limit 1`

/** A condition: an account is not gone. */
export const isAccountThere: SQL = sql`coalesce(${accounts.status}, '') <> all(${sql.param([...GONE])}::text[])`

/**
 * A condition: a personal account belongs to nobody yet and has this person's address. They came after the last sync, and
 * the next one would match them (sync/match.ts). A service account may have anybody's address.
 */
export const isLooseOf = (userId: string): SQL => sql`
  ${accounts.userId} is null and ${accounts.accountType} = 'USER' and ${accounts.goneAt} is null and ${isAccountThere}
  and lower(${accounts.email}) = (select lower(u.email) from users u where u.id = ${userId})
  and ${accounts.appId} = any(array(${unmatchedApps(userId)}))`

/**
 * Apps of a person's domain whose last complete sync began before they were there, or had their address. Accounts of the
 * others are not read for an address, which no index has: the sync has done so.
 */
const unmatchedApps = (userId: string): SQL => sql`
  select a.id from users u join apps a on a.domain_id = u.domain_id
  where u.id = ${userId} and coalesce(
    (select r.created_at from sync_runs r where r.app_id = a.id and r.state = 'SUCCEEDED' order by r.id desc limit 1),
    '-infinity') <= greatest(u.created_at,
      (select max(e.detected_at) from identity_events e where e.user_id = u.id and e.changed_field = 'email'))`

/** Gives a person the accounts that are theirs by `isLooseOf`: of one app, or of all. */
export async function keepMatch(db: Db, userId: string, appId: string | null): Promise<void> {
  await db
    .update(accounts)
    .set({ userId, matchedBy: 'EMAIL' })
    .where(and(appId === null ? undefined : eq(accounts.appId, appId), isLooseOf(userId)))
}

/**
 * Reads the system's whole list until the person's address is met.
 *
 * @param ours Whether one that is met must be one that we sent for.
 */
async function lookInSystem(
  db: Db,
  carrier: AppClient,
  pair: Pair,
  ours: boolean,
): Promise<SystemAnswer<string | null>> {
  if (!carrier.has('list_accounts')) return { ok: true, value: null }
  const { email } = await personOf(db, pair)
  let met: string | null = null
  const wanted = email.toLowerCase()
  const end = await carrier.eachPage<Listed>('list_accounts', {}, (items) => {
    const one = items.find((item) => isNamed(item, wanted))
    met = one?.integration_specific_id ?? null
    return met === null
  })
  if (!end.ok) return end
  if (met !== null && !isKeepable(met, MAX_ACCOUNT_ID))
    return { ok: false, error: { error_code: 'invalid_response', message: UNKEEPABLE } }
  if (met !== null)
    await keepProvisionedAccount(db, pair, {
      account: met,
      making: false,
      ...(ours ? { made: true } : {}),
    })
  return { ok: true, value: met }
}

const UNKEEPABLE = `the account of this person has an id that Keyway cannot keep: it is empty, longer than ${MAX_ACCOUNT_ID} characters, or no valid text`

export type Listed = {
  integration_specific_id: string
  email?: string | null
  username?: string | null
}

/** By address; where the system knows none, by the name that `create` gives. */
export const isNamed = (
  { email, username, integration_specific_id: id }: Listed,
  wanted: string,
) => (email ? email.toLowerCase() === wanted : (username ?? id).toLowerCase() === wanted)

async function personOf(db: Db, { targetUserId }: Pair) {
  const [user] = await db.select().from(users).where(eq(users.id, targetUserId))
  if (!user) throw new Error('the person of an access request is gone')
  return user
}

/**
 * The account, made where there is none. Types of entitlements that an account must have (`min` above 0)
 * are given with it; where the request names none of such a type, people have to choose.
 */
export async function ensureAccount(
  db: Db,
  carrier: AppClient,
  pair: Pair,
  entitlement: EntitlementRef | null,
  noteThere: NoteThere,
): Promise<FoundAccount> {
  const found = await findAccount(db, carrier, pair)
  if (!found.ok) return failedCall(found.error)
  if (found.value !== null) return { ok: true, account: found.value, found: true }
  if (!carrier.has('create_account'))
    return byHand('there is no account yet, and the connector cannot make one')
  const { making } = await provisionedAccountOf(db, pair, carrier.app.domainId)
  if (making && !carrier.has('list_accounts'))
    return byHand(
      'an account may have been made, but the answer was lost and the connector cannot list accounts; look whether it is there',
    )
  const needed = carrier.manifest.entitlement_types.filter(({ min }) => min > 0)
  const lacking = needed.find(({ type_id }) => type_id !== entitlement?.entitlementType)
  if (lacking)
    return byHand(
      `there is no account yet, and a new one needs ${lacking.type_label}; ask for one of those permissions first`,
    )
  return create(db, carrier, pair, needed.length > 0 ? entitlement : null, noteThere)
}

const byHand = (problem: string): StepOutcome => ({ ok: false, end: 'manual', problem })

async function create(
  db: Db,
  carrier: AppClient,
  pair: Pair,
  entitlement: EntitlementRef | null,
  noteThere: NoteThere,
): Promise<FoundAccount> {
  const user = await personOf(db, pair)
  await noteThere(false)
  // Before it is sent: a host that goes on after us looks for the account before it makes a second one.
  await keepProvisionedAccount(db, pair, { making: true })
  const answer = await carrier.call<{ id?: string | null }>('create_account', {
    entitlements:
      entitlement === null
        ? []
        : [
            {
              integration_specific_id: entitlement.entitlementId,
              integration_specific_resource_id: entitlement.resourceId,
              entitlement_type: entitlement.entitlementType,
            },
          ],
    email: user.email,
    username: user.email,
    ...(user.givenName === '' ? {} : { given_name: user.givenName }),
    ...(user.familyName === '' ? {} : { family_name: user.familyName }),
  })
  if (!answer.ok) {
    // It may be there all the same: made by this call, or before.
    const outcome = failedCall(answer.error)
    const ours = !faultOf(answer.error.error_code).undone
    if (!ours) await keepProvisionedAccount(db, pair, { making: false })
    const there = await lookInSystem(db, carrier, pair, ours)
    if (!there.ok || there.value === null) return outcome
    if (!ours) await noteThere(null)
    return took(db, carrier, pair, there.value, !ours)
  }
  const { id } = answer.value
  // A further try would make another one.
  if (typeof id === 'string' && !isKeepable(id, MAX_ACCOUNT_ID)) return byHand(UNKEEPABLE)
  if (typeof id === 'string') return took(db, carrier, pair, id, false)
  const sent = await accountSentFor(db, carrier, pair)
  if (!sent.ok) return failedCall(sent.error)
  if (sent.value === null)
    return { ok: false, end: 'call', problem: 'the new account is not in the system’s list yet' }
  return took(db, carrier, pair, sent.value, false)
}

/** Keeps an account that was made, or found, and that the next sync will find too. */
async function took(
  db: Db,
  { app }: AppClient,
  pair: Pair,
  account: string,
  found: boolean,
): Promise<FoundAccount> {
  const { email } = await personOf(db, pair)
  await db.transaction(async (tx) => {
    await keepProvisionedAccount(tx, pair, {
      account,
      making: false,
      ...(found ? {} : { made: true }),
    })
    await tx
      .insert(accounts)
      .values({
        domainId: app.domainId,
        appId: app.id,
        userId: pair.targetUserId,
        uniqueIdentifier: account,
        email,
        status: 'ACCESS_CREATED',
        discoveredAt: new Date(),
        sources: ['LUMOS_INTEGRATION'],
      })
      .onConflictDoUpdate({
        target: [accounts.appId, accounts.uniqueIdentifier],
        set: { userId: pair.targetUserId, ...(found ? {} : { status: 'ACCESS_CREATED' }) },
      })
  })
  return { ok: true, account, found }
}
