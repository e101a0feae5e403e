/**
 * Sessions of the settings pages. A session is a random text in a cookie. It has its user's current
 * permissions at each request, and ends with the token that began it or that created its sign-in link.
 */
import { and, eq, gt, inArray, lte, sql } from 'drizzle-orm'
import { CoreError, conflict } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import { loginLinks, sessions } from '../../database/schema/sessions.ts'
import { databaseTime } from '../../database/transactions.ts'
import { randomSecret } from '../../secrets/key-derivation.ts'
import { userTarget } from '../directory/users.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import {
  type Caller,
  callerOf,
  type FoundToken,
  findToken,
  findTokenById,
  lockUser,
  mayAct,
  notAuthenticated,
  principalOf,
} from '../kernel/identity/principal.ts'
import { renewHash } from '../kernel/identity/renew-hash.ts'
import type { TokenHasher } from '../kernel/identity/token-hasher.ts'
import { noteUse } from '../kernel/identity/tokens.ts'
import type { Operator } from './operator.ts'

/** Maximum duration of a session, in milliseconds. */
export const SESSION_MS: number = 8 * 60 * 60 * 1000
/** Maximum time without a page request before a session ends, in milliseconds. */
const IDLE_MS: number = 60 * 60 * 1000
/** Precision with which the last use of a session is stored, in milliseconds. */
const USED_MS: number = 60 * 1000
/** Time for which a sign-in link is valid, in milliseconds. */
const LOGIN_LINK_MS: number = 10 * 60 * 1000

const CODE_PREFIX = 'kwl_'
const SESSION_PREFIX = 'kws_'

export type Session = {
  actor: Caller
  email: string
  /** Token that began the session, or that created its link. */
  tokenId: string | null
  /** Expiry of that token, or null if it does not expire. */
  tokenEndsAt: Date | null
  /** Id of the sign-in provider with which the session began, or null for a token or a link. */
  provider: string | null
}

/**
 * Creates a code that lets a user in once and expires no later than the token that creates it. The operator
 * hands it out, so the activity log names the owner of the token.
 *
 * @throws CoreError `unauthenticated` if the token has ended in the meantime, `not_found` for an unknown
 *   user, `conflict` for a user who may not act
 */
export async function createLoginLink(
  db: Db,
  hasher: TokenHasher,
  operator: Operator,
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
  if (!user) throw new CoreError('not_found', `There is no user ${email}`)
  const code = randomSecret(CODE_PREFIX)
  const { tokenId } = operator
  const expiresAt = await db.transaction(async (tx) => {
    const locked = await lockUser(tx, user.id)
    if (!locked || !mayAct(locked.status))
      throw conflict(`${user.email} is ${locked?.status ?? 'gone'}`)
    const maker = await findTokenById(tx, tokenId)
    if (!maker) throw notAuthenticated()
    const expiresAt = await within(tx, maker, LOGIN_LINK_MS)
    await tx.delete(loginLinks).where(lte(loginLinks.expiresAt, sql`now()`))
    await tx.insert(loginLinks).values({
      domainId: user.domainId,
      userId: user.id,
      tokenId,
      hash: hasher.hash(code),
      keyId: hasher.keyId,
      expiresAt,
    })
    await recordActivity(tx, operator, 'LOGIN_LINK_CREATED', [userTarget(user)], {
      expires_at: expiresAt.toISOString(),
    })
    return expiresAt
  })
  return { code, email: user.email, expiresAt }
}

/**
 * Begins a session with the code of a sign-in link, which can be used only once. Null if the code is not
 * valid.
 */
export async function signInByCode(
  db: Db,
  hasher: TokenHasher,
  code: string,
): Promise<string | null> {
  return db.transaction(async (tx) => {
    const [link] = await tx
      .delete(loginLinks)
      .where(inArray(loginLinks.hash, hasher.hashes(code)))
      .returning({
        userId: loginLinks.userId,
        domainId: loginLinks.domainId,
        tokenId: loginLinks.tokenId,
        lasts: sql<boolean>`${loginLinks.expiresAt} > now()`,
      })
    if (!link?.lasts) return null
    const maker = await standingMaker(tx, link)
    return maker && begin(tx, hasher, link, maker, 'login link')
  })
}

/** Begins a session with an API token. Null if the token is not valid. */
export async function signInByToken(
  db: Db,
  hasher: TokenHasher,
  token: string,
): Promise<string | null> {
  const found = await findToken(db, hasher, token)
  const principal = found && principalOf(found)
  if (!principal) return null
  await noteUse(db, principal)
  return db.transaction((tx) => begin(tx, hasher, principal, found, 'API token'))
}

/**
 * Returns the end of a duration from now (by the database clock), or the expiry of a token if that is
 * earlier.
 */
async function within(tx: Db, { token }: FoundToken, ms: number): Promise<Date> {
  const end = (await databaseTime(tx)).getTime() + ms
  return new Date(Math.min(end, token.expiresAt?.getTime() ?? end))
}

/** A user and the token that let them in. The token is null in rows of versions that did not store it. */
type LetIn = { userId: string; tokenId: string | null }

/**
 * Returns the token that signed a user in, as long as it may: it is valid and belongs to the user, who may
 * act, or to another user who is still an operator.
 */
async function standingMaker(db: Db, { userId, tokenId }: LetIn): Promise<FoundToken | null> {
  const found = tokenId === null ? null : await findTokenById(db, tokenId)
  if (!found || found.token.operator) return found
  const principal = principalOf(found)
  const may = principal && (principal.userId === userId || principal.permissions.has('operator'))
  return may ? found : null
}

type Who = { userId: string; domainId: string }

async function begin(
  tx: Db,
  hasher: TokenHasher,
  who: Who,
  maker: FoundToken,
  by: string,
): Promise<string | null> {
  const expiresAt = await within(tx, maker, SESSION_MS)
  return keep(tx, hasher, who, { tokenId: maker.token.id, provider: null, expiresAt }, by)
}

/** Begins a session of a person whom a sign-in provider let in. Null if the person may not act. */
export async function beginProvided(
  tx: Db,
  hasher: TokenHasher,
  who: Who,
  provider: string,
): Promise<string | null> {
  const expiresAt = new Date((await databaseTime(tx)).getTime() + SESSION_MS)
  return keep(tx, hasher, who, { tokenId: null, provider, expiresAt }, provider)
}

type Basis = Pick<typeof sessions.$inferInsert, 'tokenId' | 'provider' | 'expiresAt'>

async function keep(
  tx: Db,
  hasher: TokenHasher,
  who: Who,
  basis: Basis,
  by: string,
): Promise<string | null> {
  const { userId, domainId } = who
  const user = await lockUser(tx, userId)
  if (!user || !mayAct(user.status)) return null
  const secret = randomSecret(SESSION_PREFIX)
  await tx.delete(sessions).where(lte(sessions.expiresAt, sql`now()`))
  await tx.insert(sessions).values({
    domainId,
    userId,
    ...basis,
    hash: hasher.hash(secret),
    keyId: hasher.keyId,
  })
  await recordActivity(tx, who, 'USER_LOGIN', [userTarget(user)], { by })
  return secret
}

/**
 * Returns the session of a cookie. Null if it has ended, was idle for too long, or its user or token may no
 * longer act.
 *
 * @param isUse false for a check that must not extend the session, such as by a page that stays open
 */
export async function findSession(
  db: Db,
  hasher: TokenHasher,
  secret: string,
  { isUse = true }: { isUse?: boolean } = {},
): Promise<Session | null> {
  const idle = sql`make_interval(secs => ${IDLE_MS / 1000})`
  const [row] = await db
    .select({
      session: sessions,
      user: users,
      usedLately: sql<boolean>`${sessions.usedAt} > now() - make_interval(secs => ${USED_MS / 1000})`,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        inArray(sessions.hash, hasher.hashes(secret)),
        gt(sessions.expiresAt, sql`now()`),
        gt(sessions.usedAt, sql`now() - ${idle}`),
      ),
    )
  if (!row || !mayAct(row.user.status)) return null
  const { session, user } = row
  const maker = session.provider === null ? await standingMaker(db, session) : null
  if (!maker && session.provider === null) return null
  await renewHash(db, hasher, sessions, session, secret)
  if (isUse && !row.usedLately)
    await db.update(sessions).set({ usedAt: sql`now()` }).where(eq(sessions.id, session.id))
  const { readOnly, expiresAt: tokenEndsAt } = maker?.token ?? { readOnly: false, expiresAt: null }
  const actor = await callerOf(db, { userId: user.id, domainId: session.domainId, readOnly })
  const { tokenId, provider } = session
  return { actor, email: user.email, tokenId, tokenEndsAt, provider }
}

/**
 * Ends a session when its person signs out or signs in again. A session that has already ended is not logged.
 */
export async function endSession(db: Db, hasher: TokenHasher, secret: string): Promise<void> {
  await db.transaction(async (tx) => {
    const [ended] = await tx
      .delete(sessions)
      .where(inArray(sessions.hash, hasher.hashes(secret)))
      .returning({
        userId: sessions.userId,
        domainId: sessions.domainId,
        lasted: sql<boolean>`${sessions.expiresAt} > now()`,
      })
    if (ended?.lasted) await recordActivity(tx, ended, 'USER_LOGOUT', [], {})
  })
}

/** Ends all sessions of a user, on all devices. */
export async function endSessionsOf(db: Db, who: Caller): Promise<void> {
  await db.transaction(async (tx) => {
    const ended = await tx
      .delete(sessions)
      .where(and(eq(sessions.domainId, who.domainId), eq(sessions.userId, who.userId)))
      .returning({ id: sessions.id })
    await recordActivity(tx, who, 'USER_LOGOUT_EVERYWHERE', [], { sessions: ended.length })
  })
}
