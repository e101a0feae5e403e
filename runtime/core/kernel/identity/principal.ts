/** The caller of a request: the user of a token, with that user's current permissions. */
import { and, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import { CoreError, forbidden } from '../../../contract/errors/problem.ts'
import {
  PERMISSION_WORDS,
  type Permission,
  ROLES,
  type RoleName,
} from '../../../contract/models/roles.ts'
import { together } from '../../../database/batched-lookups.ts'
import type { Db } from '../../../database/database.ts'
import { prepared } from '../../../database/prepared.ts'
import { apiTokens, type UserRow, userRoles, users } from '../../../database/schema/people.ts'
import { renewHash } from './renew-hash.ts'
import { TOKEN_PREFIX, type TokenHasher } from './token-hasher.ts'
import { USED_LATELY } from './used-lately.ts'

/** A user who acts with a token or from a session on the settings pages. */
export type Caller = {
  userId: string
  domainId: string
  readOnly: boolean
  roles: readonly RoleName[]
  permissions: ReadonlySet<Permission>
  /** User as shown in the activity log. It is looked up when needed if null or absent. */
  profile?: Profile
}

/**
 * Name and e-mail address of the user `userId`. Compare the id before use: callers are also built by
 * spreading.
 */
export type Profile = { userId: string; email: string; givenName: string; familyName: string }

export type Principal = Caller & {
  tokenId: string
  /** True if a use of the token within the last minute is already stored. */
  usedLately: boolean
}

/** Returns the error for a token that does not work. */
export const notAuthenticated = (): CoreError =>
  new CoreError('unauthenticated', 'Not authenticated')

/**
 * Returns the principal of an Authorization header. It takes one query, because every request makes it.
 *
 * A token acts with its user's current permissions: losing a role takes effect at the next request (the safe
 * reading of "inherits and keeps", service.md section 5.2).
 *
 * @throws CoreError `unauthenticated`
 */
export async function authenticate(
  db: Db,
  hasher: TokenHasher,
  header: string | undefined,
): Promise<Principal> {
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
  const principal = token ? await principalOfToken(db, hasher, token) : null
  if (!principal) throw notAuthenticated()
  return principal
}

/**
 * Returns the principal of a token, or null if the token is unknown, revoked or expired, or if its user may
 * not act.
 */
export async function principalOfToken(
  db: Db,
  hasher: TokenHasher,
  token: string,
): Promise<Principal | null> {
  const found = await findToken(db, hasher, token)
  return found && principalOf(found)
}

/** A valid token, with its user's status and roles. */
export type FoundToken = {
  token: typeof apiTokens.$inferSelect
  profile: Profile
  usedLately: boolean
  status: (typeof users.$inferSelect)['status']
  roles: string[]
}

/**
 * Finds a token by its text. Returns null if it is unknown, revoked or expired. A hash made with an older
 * secret is replaced by one made with the newest.
 */
export async function findToken(
  db: Db,
  hasher: TokenHasher,
  token: string,
): Promise<FoundToken | null> {
  // Text that no header can hold must not reach the database: a NUL would cause an internal error there.
  if (!token.startsWith(TOKEN_PREFIX) || !/^[!-~]+$/.test(token)) return null
  const rows = await liveByPrefix(db, hasher.prefixOf(token))
  const found = rows.find((one) => hasher.matches(token, one.token.hash)) ?? null
  if (found) await renewHash(db, hasher, apiTokens, found.token, token)
  return found
}

/** Finds a token by its id. Returns null if it is unknown, revoked or expired. */
export async function findTokenById(db: Db, id: string): Promise<FoundToken | null> {
  const [row] = await liveTokens(db, eq(apiTokens.id, id))
  return row ?? null
}

/** Selects tokens that are valid by the database's clock: a host's clock may be wrong. */
const liveTokens = (db: Db, which: SQL) =>
  db
    .select({
      token: apiTokens,
      profile: {
        userId: users.id,
        email: users.email,
        givenName: users.givenName,
        familyName: users.familyName,
      },
      usedLately: USED_LATELY,
      status: users.status,
      roles: sql<
        string[]
      >`array(select ${userRoles.role} from ${userRoles} where ${userRoles.userId} = ${users.id})`,
    })
    .from(apiTokens)
    .innerJoin(users, eq(users.id, apiTokens.userId))
    .where(
      and(
        which,
        isNull(apiTokens.revokedAt),
        or(isNull(apiTokens.expiresAt), gt(apiTokens.expiresAt, sql`now()`)),
      ),
    )

const liveByPrefixes = prepared('live tokens by prefixes', (db) =>
  liveTokens(db, sql`${apiTokens.prefix} = any(${sql.placeholder('prefixes')}::text[])`),
)

/** Every request runs this query, so simultaneous requests share one. */
const liveByPrefix = together(
  (db, prefixes) => liveByPrefixes(db, { prefixes }),
  ({ token }) => token.prefix,
)

/** Returns the principal of a token, or null if its user may not act. */
export function principalOf(found: FoundToken): Principal | null {
  const { token, usedLately, profile, status, roles } = found
  if (!mayAct(status)) return null
  const { id: tokenId, userId, domainId, readOnly } = token
  return { tokenId, usedLately, profile, ...withRoles({ userId, domainId, readOnly }, roles) }
}

type UserStatus = (typeof users.$inferSelect)['status']

/** Statuses of users who may neither sign in nor decide anything. */
const BARRED: readonly UserStatus[] = ['SUSPENDED', 'INACTIVE']

/** Reports whether a user of this status may act. */
export const mayAct = (status: UserStatus): boolean => !BARRED.includes(status)

/**
 * Reads a user and locks it until the transaction ends. For code that creates a way to sign in: an
 * offboarding that begins now waits and then ends the new one too, and an offboarding that has begun is
 * visible.
 */
export async function lockUser(tx: Db, userId: string): Promise<UserRow | null> {
  const [user] = await tx.select().from(users).where(eq(users.id, userId)).for('no key update')
  return user ?? null
}

const BARRED_TEXTS = sql.raw(BARRED.map((one) => `'${one}'`).join(', '))

/**
 * Returns the SQL condition for `mayAct`.
 *
 * @param of the users table, or its alias in the statement
 */
export const usersWhoMayAct = (of: string | typeof users): SQL =>
  sql`${typeof of === 'string' ? sql.raw(`${of}.status`) : of.status} not in (${BARRED_TEXTS})`

type Who = Pick<Caller, 'userId' | 'domainId' | 'readOnly'>

/** Reads a user's current roles and permissions. */
export async function callerOf(db: Db, who: Who): Promise<Caller> {
  const rows = await db
    .select({ role: userRoles.role })
    .from(userRoles)
    .where(eq(userRoles.userId, who.userId))
  return withRoles(
    who,
    rows.map(({ role }) => role),
  )
}

function withRoles(who: Who, roles: string[]): Caller {
  const names = roles.filter((name): name is RoleName => Object.hasOwn(ROLES, name))
  return {
    ...who,
    roles: names,
    permissions: new Set(names.flatMap((name) => [...ROLES[name].permissions])),
  }
}

/** Checks that the caller has a permission. @throws CoreError `forbidden` */
export function requirePermission(principal: Caller, permission: Permission): void {
  if (principal.permissions.has(permission)) return
  const words = PERMISSION_WORDS[permission]
  throw forbidden(
    `This needs the permission ${permission}${words ? ` (to ${words})` : ''}, which none of your roles has`,
  )
}

/**
 * Checks, during long work, that the caller still has every permission that they began with.
 *
 * @throws CoreError `forbidden`
 */
export function requireUnchanged(begun: Caller, now: Caller): void {
  for (const permission of begun.permissions) requirePermission(now, permission)
}
