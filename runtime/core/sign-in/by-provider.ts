/** Signs in a person with the claims of a provider: finds the user and sets the roles. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Claims, SignInProvider } from '../../contract/models/sign-in-provider.ts'
import type { Db } from '../../database/database.ts'
import { domains, type UserRow, userRoles, users } from '../../database/schema/people.ts'
import { areLastAdmins } from '../directory/admins.ts'
import { userTarget } from '../directory/users.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import type { TokenHasher } from '../kernel/identity/token-hasher.ts'
import { beginProvided } from './sessions.ts'

/** Reason why a person was not let in, with the address that the provider gave, if it gave one. */
export type NotLetIn = {
  why: 'no_address' | 'unverified' | 'unknown' | 'suspended'
  email: string | null
}

type Told = {
  email: string
  givenName: string
  familyName: string
  /** Null if the provider sent no groups, which is not an empty list of them. */
  groups: readonly string[] | null
}

const ADDRESS = /^[^\s@\u0000-\u001f]{1,64}@[^\s@\u0000-\u001f]{1,255}$/
const MAX_NAME = 200
/** Maximum number of groups that are read. */
const MAX_GROUPS = 5000

const nameIn = (claims: Claims, name: string): string => {
  const value = claims[name]
  return typeof value === 'string' ? value.replaceAll('\u0000', '').trim().slice(0, MAX_NAME) : ''
}

/**
 * Reads a person from the claims, or returns why that is not possible. An address must be verified by the
 * provider, unless it comes from another claim that the operator configured.
 */
export function toldBy(claims: Claims, provider: SignInProvider): Told | NotLetIn {
  const given = claims[provider.person_claim]
  if (typeof given !== 'string' || !ADDRESS.test(given)) return { why: 'no_address', email: null }
  const email = given.toLowerCase()
  if (provider.person_claim === 'email' && claims['email_verified'] !== true)
    return { why: 'unverified', email }
  const whole = nameIn(claims, 'name')
  const [first = '', ...rest] = whole.split(' ')
  return {
    email,
    givenName: nameIn(claims, 'given_name') || first,
    familyName: nameIn(claims, 'family_name') || rest.join(' '),
    groups: groupsIn(claims[provider.groups_claim]),
  }
}

/** Some providers send a single group as a text, and Microsoft Entra ID sends no list of more than 200. */
function groupsIn(claim: unknown): string[] | null {
  if (typeof claim === 'string') return [claim]
  if (!Array.isArray(claim)) return null
  return claim.slice(0, MAX_GROUPS).filter((one) => typeof one === 'string')
}

/**
 * Signs a person in. Returns the secret of a session, or why there is none. `lacksGroups`: the person has none
 * of the roles that groups give, because the provider sent no groups.
 */
export async function signInByProvider(
  db: Db,
  hasher: TokenHasher,
  provider: SignInProvider,
  claims: Claims,
): Promise<{ secret: string; lacksGroups: boolean } | NotLetIn> {
  const told = toldBy(claims, provider)
  if ('why' in told) return told
  return db.transaction(async (tx) => {
    const [domain] = await tx.select().from(domains).orderBy(domains.createdAt).limit(1)
    if (!domain) throw new Error('there is no domain')
    const known = await personOf(tx, domain.id, told.email)
    const user =
      known ?? (provider.unknown_people === 'make' ? await made(tx, domain.id, told) : null)
    if (!user) return { why: 'unknown', email: told.email } as const
    const who = { userId: user.id, domainId: user.domainId }
    const secret = await beginProvided(tx, hasher, who, provider.id)
    if (secret === null) return { why: 'suspended', email: told.email } as const
    await setRoles(tx, user, provider, told.groups ?? [])
    return { secret, lacksGroups: told.groups === null && provider.roles.length > 0 }
  })
}

async function personOf(tx: Db, domainId: string, email: string): Promise<UserRow | null> {
  const [user] = await tx
    .select()
    .from(users)
    .where(and(eq(users.domainId, domainId), eq(sql`lower(${users.email})`, email)))
  return user ?? null
}

async function made(tx: Db, domainId: string, told: Told): Promise<UserRow | null> {
  const { email, givenName, familyName } = told
  const [user] = await tx
    .insert(users)
    .values({ domainId, email, givenName, familyName })
    .onConflictDoNothing()
    .returning()
  if (!user) return personOf(tx, domainId, email)
  await recordActivity(tx, { domainId, userId: null }, 'USER_CREATED', [userTarget(user)], {
    by: 'sign-in',
  })
  return user
}

/**
 * Adds the roles of the person's groups, and removes the other roles in the table. The last admin keeps the
 * role.
 */
async function setRoles(
  tx: Db,
  user: UserRow,
  { roles }: SignInProvider,
  groups: readonly string[],
): Promise<void> {
  const named = [...new Set(roles.map(({ role }) => role))]
  if (named.length === 0) return
  const wanted = new Set(
    roles.filter(({ group }) => groups.includes(group)).map(({ role }) => role),
  )
  const { id: userId, domainId } = user
  const held = await tx
    .select({ role: userRoles.role })
    .from(userRoles)
    .where(and(eq(userRoles.userId, userId), inArray(userRoles.role, named)))
  const has = new Set(held.map(({ role }) => role))
  const host = { domainId, userId: null }
  for (const role of named) {
    if (wanted.has(role) === has.has(role)) continue
    if (wanted.has(role)) {
      await tx.insert(userRoles).values({ domainId, userId, role }).onConflictDoNothing()
      await recordActivity(tx, host, 'USER_ROLE_ADDED', [userTarget(user)], { role })
    } else if (role !== 'Admin' || !(await areLastAdmins(tx, domainId, new Set([userId])))) {
      await tx.delete(userRoles).where(and(eq(userRoles.userId, userId), eq(userRoles.role, role)))
      await recordActivity(tx, host, 'USER_ROLE_REMOVED', [userTarget(user)], { role })
    }
  }
}
