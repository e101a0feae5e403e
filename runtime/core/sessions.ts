/**
 * Who is signed in to the settings pages. A session is a random text in a cookie; it acts with what its
 * user is and may at each request, and ends with the token that it was begun with.
 */
import { randomBytes } from 'node:crypto'
import { and, eq, gt, inArray, lte, sql } from 'drizzle-orm'
import { CoreError } from '../contract/endpoints/problem.ts'
import type { Db } from '../database/database.ts'
import { apiTokens, users } from '../database/schema/people.ts'
import { loginLinks, sessions } from '../database/schema/sessions.ts'
import { type Actor, recordActivity } from './activity.ts'
import { type Caller, callerOf, mayAct, principalOf, type TokenHasher } from './principal.ts'
import { noteUse } from './tokens.ts'

/** How long one stays signed in, in milliseconds. */
export const SESSION_MS: number = 8 * 60 * 60 * 1000
/** How long a link lets somebody in, in milliseconds. */
export const LOGIN_LINK_MS: number = 10 * 60 * 1000

const CODE_PREFIX = 'kwl_'
const SESSION_PREFIX = 'kws_'

export type Session = {
  actor: Caller
  email: string
  /** The token that it was begun with; null for one begun by a link. */
  tokenId: string | null
}

const randomText = (prefix: string): string => `${prefix}${randomBytes(32).toString('base64url')}`

const userTarget = ({ id, email }: { id: string; email: string }) => ({
  target_type: 'User',
  name: email,
  id,
})

/**
 * Makes a code that lets a user in once. It is for the operator to hand out, so the log names the
 * owner of the operator's token.
 *
 * @throws CoreError 404 for a user that there is not, 409 for one who may not act
 */
export async function createLoginLink(
  db: Db,
  hasher: TokenHasher,
  operator: Actor,
  email: string,
): Promise<{ code: string; email: string; expiresAt: Date }> {
  const [user] = await db
    .select()
    .from(users)
    .where(
      and(
        eq(users.domainId, operator.domainId),
        eq(sql`lower(${users.email})`, email.toLowerCase()),
      ),
    )
  if (!user) throw new CoreError(404, `There is no user ${email}`)
  if (!mayAct(user.status)) throw new CoreError(409, `${user.email} is ${user.status}`)
  const code = randomText(CODE_PREFIX)
  const expiresAt = new Date(Date.now() + LOGIN_LINK_MS)
  await db.transaction(async (tx) => {
    await tx.delete(loginLinks).where(lte(loginLinks.expiresAt, sql`now()`))
    await tx.insert(loginLinks).values({
      domainId: user.domainId,
      userId: user.id,
      hash: hasher.hash(code),
      expiresAt,
    })
    await recordActivity(tx, operator, 'LOGIN_LINK_CREATED', [userTarget(user)], {
      expires_at: expiresAt.toISOString(),
    })
  })
  return { code, email: user.email, expiresAt }
}

/** Begins a session with the code of a login link, which is used up by it; null for one that is not good. */
export async function signInByCode(
  db: Db,
  hasher: TokenHasher,
  code: string,
): Promise<string | null> {
  return db.transaction(async (tx) => {
    const [link] = await tx
      .delete(loginLinks)
      .where(inArray(loginLinks.hash, hasher.hashes(code)))
      .returning()
    if (!link || link.expiresAt.getTime() <= Date.now()) return null
    const [user] = await tx.select().from(users).where(eq(users.id, link.userId))
    if (!user || !mayAct(user.status)) return null
    return begin(tx, hasher, { ...link, tokenId: null }, 'login link')
  })
}

/** Begins a session with an API token; null for one that is not good. */
export async function signInByToken(
  db: Db,
  hasher: TokenHasher,
  token: string,
): Promise<string | null> {
  const principal = await principalOf(db, hasher, token)
  if (!principal) return null
  await noteUse(db, principal, new Date())
  return db.transaction((tx) => begin(tx, hasher, principal, 'API token'))
}

async function begin(
  tx: Db,
  hasher: TokenHasher,
  who: { userId: string; domainId: string; tokenId: string | null },
  by: string,
): Promise<string> {
  const { userId, domainId, tokenId } = who
  const secret = randomText(SESSION_PREFIX)
  await tx.delete(sessions).where(lte(sessions.expiresAt, sql`now()`))
  await tx.insert(sessions).values({
    domainId,
    userId,
    tokenId,
    hash: hasher.hash(secret),
    expiresAt: new Date(Date.now() + SESSION_MS),
  })
  const [user] = await tx.select().from(users).where(eq(users.id, userId))
  await recordActivity(tx, who, 'USER_LOGIN', user ? [userTarget(user)] : [], { by })
  return secret
}

/** The session of a cookie; null when it ended, or its user or its token may no longer act. */
export async function findSession(
  db: Db,
  hasher: TokenHasher,
  secret: string,
): Promise<Session | null> {
  const [row] = await db
    .select({ session: sessions, user: users, token: apiTokens })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(apiTokens, eq(apiTokens.id, sessions.tokenId))
    .where(and(inArray(sessions.hash, hasher.hashes(secret)), gt(sessions.expiresAt, sql`now()`)))
  if (!row || !mayAct(row.user.status)) return null
  const { session, user, token } = row
  if (token?.revokedAt) return null
  if (token?.expiresAt && token.expiresAt.getTime() <= Date.now()) return null
  const who = { userId: user.id, domainId: session.domainId, readOnly: token?.readOnly ?? false }
  return { actor: await callerOf(db, who), email: user.email, tokenId: session.tokenId }
}

/** Ends a session; one that ended before is fine. */
export async function endSession(db: Db, hasher: TokenHasher, secret: string): Promise<void> {
  await db.delete(sessions).where(inArray(sessions.hash, hasher.hashes(secret)))
}
