/** Who is calling: the user behind a token, with the permissions that the user has now. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { CoreError } from '../contract/endpoints/problem.ts'
import { type Permission, ROLES, type RoleName } from '../contract/roles.ts'
import type { Db } from '../database/database.ts'
import { apiTokens, userRoles, users } from '../database/schema/people.ts'

export type Principal = {
  userId: string
  domainId: string
  tokenId: string
  readOnly: boolean
  /** When the token was used, as far as it is noted. */
  lastUsedAt: Date | null
  roles: readonly RoleName[]
  permissions: ReadonlySet<Permission>
}

/** Every token begins with this (service.md section 5.2). */
export const TOKEN_PREFIX = 'lsk_'
/** Characters of a token by which its row is found; the rest is only known as a hash. */
const LOOKUP_LENGTH = TOKEN_PREFIX.length + 8

/** Hashes tokens: with the first secret for new ones, with any of them to recognise one. */
export type TokenHasher = {
  prefixOf(token: string): string
  hash(token: string): Buffer
  matches(token: string, hash: Buffer): boolean
}

export function createTokenHasher(secrets: readonly string[]): TokenHasher {
  const keys = secrets.map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, 'keyway', 'api-token', 32)),
  )
  const [current] = keys
  if (!current) throw new Error('tokens need at least one secret')
  const digest = (key: Buffer, token: string) => createHmac('sha256', key).update(token).digest()
  return {
    prefixOf: (token) => token.slice(0, LOOKUP_LENGTH),
    hash: (token) => digest(current, token),
    matches: (token, hash) => keys.some((key) => timingSafeEqual(digest(key, token), hash)),
  }
}

const notAuthenticated = () =>
  new CoreError(401, 'Not authenticated', { 'www-authenticate': 'Bearer' })

/**
 * The principal of an Authorization header, in one question: every request asks it.
 *
 * A token acts with its user's permissions as they are now: losing a role takes effect at the next
 * request (the safe reading of "inherits and keeps", service.md section 5.2).
 *
 * @throws CoreError 401
 */
export async function authenticate(
  db: Db,
  hasher: TokenHasher,
  header: string | undefined,
): Promise<Principal> {
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
  if (!token?.startsWith(TOKEN_PREFIX)) throw notAuthenticated()
  const rows = await db
    .select({
      token: apiTokens,
      status: users.status,
      roles: sql<
        string[]
      >`array(select ${userRoles.role} from ${userRoles} where ${userRoles.userId} = ${users.id})`,
    })
    .from(apiTokens)
    .innerJoin(users, eq(users.id, apiTokens.userId))
    .where(and(eq(apiTokens.prefix, hasher.prefixOf(token)), isNull(apiTokens.revokedAt)))
  const row = rows.find((one) => hasher.matches(token, one.token.hash))
  if (!row || row.status === 'SUSPENDED' || row.status === 'INACTIVE') throw notAuthenticated()
  if (row.token.expiresAt && row.token.expiresAt.getTime() <= Date.now()) throw notAuthenticated()
  const names = row.roles.filter((name): name is RoleName => Object.hasOwn(ROLES, name))
  return {
    userId: row.token.userId,
    domainId: row.token.domainId,
    tokenId: row.token.id,
    readOnly: row.token.readOnly,
    lastUsedAt: row.token.lastUsedAt,
    roles: names,
    permissions: new Set(names.flatMap((name) => [...ROLES[name].permissions])),
  }
}

/** @throws CoreError 403 */
export function demand(principal: Principal, permission: Permission): void {
  if (!principal.permissions.has(permission)) {
    throw new CoreError(
      403,
      `This needs the permission ${permission}, which none of your roles has`,
    )
  }
}
