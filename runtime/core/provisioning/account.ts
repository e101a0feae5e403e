/** Account of a person in an app: finding it, or creating it. */

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

/** Returns the stored facts about the account. Adds a row if there is none. */
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

/** Stores facts about the account. */
export async function keepProvisionedAccount(
  db: Db,
  pair: Pair,
  values: Partial<Pick<ProvisionedAccountRow, 'account' | 'made' | 'making' | 'leftBy'>>,
): Promise<void> {
  await db.update(provisionedAccounts).set(values).where(ofPair(pair))
}

/**
 * Records, before anything is sent, whether the access already exists, which cannot be known afterwards. The
 * first value counts. null withdraws it, because nothing was sent.
 */
export type NoteThere = (preExisting: boolean | null) => Promise<void>

/** Facts that granting needs in addition to the request. */
export type Giving = {
  noteThere: NoteThere
  /** Whether access is being revoked from the same person, so that access still shown may soon be removed. */
  unsettled: boolean
}

type FoundAccount = { ok: true; account: string; found: boolean } | StepOutcome

/**
 * Finds the account: from the stored id, from the last sync, or in the system's own list. Null if there is
 * none. The system is not asked if its last sync succeeded and no account creation was sent since.
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
    if (known.loose) await matchAccountsByEmail(db, pair.targetUserId, pair.carriedAppId)
    await keepProvisionedAccount(db, pair, { account: known.id })
    return { ok: true, value: known.id }
  }
  if (carrier.app.syncStatus === 'SUCCESS' && !kept.making) return { ok: true, value: null }
  if (!kept.making) return lookInSystem(db, carrier, pair, false)
  // A creation was sent and its result is unknown: allow the time that the system may take to show the
  // account.
  return accountSentFor(db, carrier, pair)
}

/** Waits until an account being created is in the system's list (`until` of AppClient). Null if it is not. */
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

/** Query for an account that the last sync found. An account already matched with the person comes first. */
const knownOf = ({ carriedAppId: appId, targetUserId: userId }: Pair): SQL => sql`
  select ${accounts.uniqueIdentifier} as id, false as loose from ${accounts}
  where ${accounts.appId} = ${appId} and ${accounts.userId} = ${userId} and ${isAccountThere}
  union all
  select ${accounts.uniqueIdentifier}, true from ${accounts}
  where ${accounts.appId} = ${appId} and ${isUnmatchedAccountOf(userId)}
  order by loose limit 1`

/** Condition that an account still exists. */
export const isAccountThere: SQL = sql`coalesce(${accounts.status}, '') <> all(${sql.param([...GONE])}::text[])`

/**
 * Condition that a personal account has no owner yet and has this person's address. Such accounts appeared
 * after the last sync, and the next one would match them (sync/match.ts). A service account may have any
 * person's address.
 */
export const isUnmatchedAccountOf = (userId: string): SQL => sql`
  ${accounts.userId} is null and ${accounts.accountType} = 'USER' and ${accounts.goneAt} is null and ${isAccountThere}
  and lower(${accounts.email}) = (select lower(u.email) from users u where u.id = ${userId})
  and ${accounts.appId} = any(array(${unmatchedApps(userId)}))`

/**
 * Query for the apps of a person's domain whose last complete sync began before the person, or their address,
 * existed. Accounts of other apps need no search by address, which no index supports: the sync has matched
 * them.
 */
const unmatchedApps = (userId: string): SQL => sql`
  select a.id from users u join apps a on a.domain_id = u.domain_id
  where u.id = ${userId} and coalesce(
    (select r.created_at from sync_runs r where r.app_id = a.id and r.state = 'SUCCEEDED' order by r.id desc limit 1),
    '-infinity') <= greatest(u.created_at,
      (select max(e.detected_at) from identity_events e where e.user_id = u.id and e.changed_field = 'email'))`

/** Assigns to a person the accounts that match by `isUnmatchedAccountOf`, in one app or in all. */
export async function matchAccountsByEmail(
  db: Db,
  userId: string,
  appId: string | null,
): Promise<void> {
  await db
    .update(accounts)
    .set({ userId, matchedBy: 'EMAIL' })
    .where(
      and(appId === null ? undefined : eq(accounts.appId, appId), isUnmatchedAccountOf(userId)),
    )
}

/**
 * Reads the system's whole list until the person's address is found.
 *
 * @param ours whether a match counts as an account that Keyway created
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

const UNKEEPABLE = `the account of this person has an id that Keyway cannot store: it is empty, longer than ${MAX_ACCOUNT_ID} characters, or not valid text`

export type Listed = {
  integration_specific_id: string
  email?: string | null
  username?: string | null
}

/** Reports whether a listed account has an address or, if none is stored, the name that `create` assigns. */
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
 * Returns the account, and creates it if there is none. Entitlement types that an account must have (`min`
 * above 0) are granted with it. If the request names no entitlement of such a type, people have to choose
 * one.
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
    return byHand('there is no account yet, and the connector cannot create one')
  const { making } = await provisionedAccountOf(db, pair, carrier.app.domainId)
  if (making && !carrier.has('list_accounts'))
    return byHand(
      'an account may have been created, but the answer was lost and the connector cannot list accounts; check whether it exists',
    )
  const needed = carrier.manifest.entitlement_types.filter(({ min }) => min > 0)
  const lacking = needed.find(({ type_id }) => type_id !== entitlement?.entitlementType)
  if (lacking)
    return byHand(
      `there is no account yet, and a new account needs a ${lacking.type_label}; request such a permission first`,
    )
  return create(db, carrier, pair, needed.length > 0 ? entitlement : null, noteThere)
}

const byHand = (problem: string): StepOutcome => ({ ok: false, fault: 'manual', problem })

async function create(
  db: Db,
  carrier: AppClient,
  pair: Pair,
  entitlement: EntitlementRef | null,
  noteThere: NoteThere,
): Promise<FoundAccount> {
  const user = await personOf(db, pair)
  await noteThere(false)
  // Set before sending: a host that takes over looks for the account before it creates another.
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
    // The account may still exist, created by this call or earlier.
    const outcome = failedCall(answer.error)
    const ours = !faultOf(answer.error.error_code).undone
    if (!ours) await keepProvisionedAccount(db, pair, { making: false })
    const there = await lookInSystem(db, carrier, pair, ours)
    if (!there.ok || there.value === null) return outcome
    if (!ours) await noteThere(null)
    return took(db, carrier, pair, there.value, !ours)
  }
  const { id } = answer.value
  // Another try would create a second account.
  if (typeof id === 'string' && !isKeepable(id, MAX_ACCOUNT_ID)) return byHand(UNKEEPABLE)
  if (typeof id === 'string') return took(db, carrier, pair, id, false)
  const sent = await accountSentFor(db, carrier, pair)
  if (!sent.ok) return failedCall(sent.error)
  if (sent.value === null)
    return { ok: false, fault: 'call', problem: 'the system does not list the new account yet' }
  return took(db, carrier, pair, sent.value, false)
}

/** Stores an account that was created or found, as the next sync would. */
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
        discoveredAt: sql`now()`,
        sources: ['LUMOS_INTEGRATION'],
      })
      .onConflictDoUpdate({
        target: [accounts.appId, accounts.uniqueIdentifier],
        set: { userId: pair.targetUserId, ...(found ? {} : { status: 'ACCESS_CREATED' }) },
      })
  })
  return { ok: true, account, found }
}
