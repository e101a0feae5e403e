/** Who is calling: the user behind a token, with the permissions that the user has now. */
import { and, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import { CoreError, forbidden } from '../../../contract/errors/problem.ts'
import {
  PERMISSION_WORDS,
  type Permission,
  ROLES,
  type RoleName,
} from '../../../contract/models/roles.ts'
import type { Db } from '../../../database/database.ts'
import { prepared } from '../../../database/prepared.ts'
import { apiTokens, type UserRow, userRoles, users } from '../../../database/schema/people.ts'
import { together } from '../../../database/together.ts'
import { renewHash } from './renew-hash.ts'
import { TOKEN_PREFIX, type TokenHasher } from './token-hasher.ts'
import { USED_LATELY } from './used-lately.ts'

/** A user who acts, by a token or signed in to the settings pages. */
export type Caller = {
  userId: string
  domainId: string
  readOnly: boolean
  roles: readonly RoleName[]
  permissions: ReadonlySet<Permission>
  /** The user as shown in the activity log; null or absent: looked up when needed. */
  profile?: Profile
}

/** Name and e-mail address of the user `userId`; compare the id before use, because callers are also built by spreading. */
export type Profile = { userId: string; email: string; givenName: string; familyName: string }

export type Principal = Caller & {
  tokenId: string
  /** Whether a use of the token within the last minute is already stored. */
  usedLately: boolean
}

/** The message for a token that does not work. */
export const notAuthenticated = (): CoreError =>
  new CoreError('unauthenticated', 'Not authenticated')

/**
 * The principal of an Authorization header, in one question: every request asks it.
 *
 * A token acts with its user's permissions as they are now: losing a role takes effect at the next
 * request (the safe reading of "inherits and keeps", service.md section 5.2).
 *
 * @throws CoreError unauthenticated
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

/** The principal of a token; null for one that is unknown, revoked or expired, or whose user may not act. */
export async function principalOfToken(
  db: Db,
  hasher: TokenHasher,
  token: string,
): Promise<Principal | null> {
  const found = await findToken(db, hasher, token)
  return found && principalOf(found)
}

/** A token that works, with its user's status and roles. */
export type FoundToken = {
  token: typeof apiTokens.$inferSelect
  profile: Profile
  usedLately: boolean
  status: (typeof users.$inferSelect)['status']
  roles: string[]
}

/**
 * A token by its text; null for one that is unknown, revoked or expired. One that an older secret has hashed
 * is kept under the newest from then on.
 */
export async function findToken(
  db: Db,
  hasher: TokenHasher,
  token: string,
): Promise<FoundToken | null> {
  // What no header can hold must not reach the database either: NUL would be an error of ours there.
  if (!token.startsWith(TOKEN_PREFIX) || !/^[!-~]+$/.test(token)) return null
  const rows = await liveByPrefix(db, hasher.prefixOf(token))
  const found = rows.find((one) => hasher.matches(token, one.token.hash)) ?? null
  if (found) await renewHash(db, hasher, apiTokens, found.token, token)
  return found
}

/** A token by its id; null for one that is unknown, revoked or expired. */
export async function findTokenById(db: Db, id: string): Promise<FoundToken | null> {
  const [row] = await liveTokens(db, eq(apiTokens.id, id))
  return row ?? null
}

/** Tokens in force, by the database's clock: a host's clock may be wrong. */
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

/** Every request asks it, so that those that come together ask as one. */
const liveByPrefix = together(
  (db, prefixes) => liveByPrefixes(db, { prefixes }),
  ({ token }) => token.prefix,
)

/** The principal of a token; null if its user may not act. */
export function principalOf(found: FoundToken): Principal | null {
  const { token, usedLately, profile, status, roles } = found
  if (!mayAct(status)) return null
  const { id: tokenId, userId, domainId, readOnly } = token
  return { tokenId, usedLately, profile, ...withRoles({ userId, domainId, readOnly }, roles) }
}

type UserStatus = (typeof users.$inferSelect)['status']

/** Statuses of users who are not let in, and who decide nothing. */
const BARRED: readonly UserStatus[] = ['SUSPENDED', 'INACTIVE']

/** Whether a user of this status is let in. */
export const mayAct = (status: UserStatus): boolean => !BARRED.includes(status)

/**
 * A user, locked until the transaction ends. For who makes what lets them in: an offboarding that begins meanwhile waits, and
 * ends that as well; one that has begun is seen.
 */
export async function lockUser(tx: Db, userId: string): Promise<UserRow | null> {
  const [user] = await tx.select().from(users).where(eq(users.id, userId)).for('no key update')
  return user ?? null
}

const BARRED_TEXTS = sql.raw(BARRED.map((one) => `'${one}'`).join(', '))

/** The same as a condition. @param of The users: their table, or what it is called in the statement. */
export const usersWhoMayAct = (of: string | typeof users): SQL =>
  sql`${typeof of === 'string' ? sql.raw(`${of}.status`) : of.status} not in (${BARRED_TEXTS})`

type Who = Pick<Caller, 'userId' | 'domainId' | 'readOnly'>

/** A user with the roles and permissions of this moment. */
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

/** @throws CoreError forbidden */
export function demand(principal: Caller, permission: Permission): void {
  if (principal.permissions.has(permission)) return
  const words = PERMISSION_WORDS[permission]
  throw forbidden(
    `This needs the permission ${permission}${words ? ` (to ${words})` : ''}, which none of your roles has`,
  )
}

/** For what goes on for long: whether the caller still has what it was begun with. @throws CoreError forbidden */
export function demandSame(begun: Caller, now: Caller): void {
  for (const permission of begun.permissions) demand(now, permission)
}
