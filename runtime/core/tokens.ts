/** API tokens, and the first user that owns the first of them. */
import { randomBytes } from 'node:crypto'
import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { Db } from '../database/database.ts'
import { apiTokens, userRoles, users } from '../database/schema/people.ts'
import { type Principal, TOKEN_PREFIX, type TokenHasher } from './principal.ts'

/** E-mail address of the user that owns the operator's token. */
export const FIRST_ADMIN = 'admin@localhost'

/** How precise "last used" is, in milliseconds: not every request is worth a write. */
const LAST_USED_MS = 60_000

export type NewToken = {
  userId: string
  domainId: string
  name: string
  description: string
  readOnly: boolean
  expiresAt: Date | null
  /** The form that it is made with, if it is; of one user's form only one token is ever made. */
  formId?: string
}

/** Makes a token; its text is in the answer and nowhere else. */
export async function createToken(
  db: Db,
  hasher: TokenHasher,
  token: NewToken,
): Promise<{ id: string; token: string }> {
  const text = newTokenText()
  const id = await keepToken(db, hasher, token, text)
  if (id === null) throw new Error('a token was made with this form before')
  return { id, token: text }
}

export const newTokenText = (): string => `${TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`

/** Keeps what there is to keep of a token; null when one was made with the same form before. */
export async function keepToken(
  db: Db,
  hasher: TokenHasher,
  token: NewToken,
  text: string,
): Promise<string | null> {
  const [row] = await db
    .insert(apiTokens)
    .values({ ...token, prefix: hasher.prefixOf(text), hash: hasher.hash(text) })
    .onConflictDoNothing({ target: [apiTokens.userId, apiTokens.formId] })
    .returning({ id: apiTokens.id })
  return row?.id ?? null
}

/** Notes that a token was used, at most once a minute: most requests write nothing. */
export async function noteUse(
  db: Db,
  { tokenId, lastUsedAt }: Pick<Principal, 'tokenId' | 'lastUsedAt'>,
  now: Date,
): Promise<void> {
  const staleBefore = new Date(now.getTime() - LAST_USED_MS)
  if (lastUsedAt !== null && lastUsedAt >= staleBefore) return
  // Of requests that come together one writes.
  const stale = or(isNull(apiTokens.lastUsedAt), lt(apiTokens.lastUsedAt, staleBefore))
  await db
    .update(apiTokens)
    .set({ lastUsedAt: now })
    .where(and(eq(apiTokens.id, tokenId), stale))
}

/**
 * Makes the first admin, and the operator's token theirs. Safe to do at every start, by several hosts:
 * a token that is there already is left alone.
 */
export async function ensureFirstAdmin(
  db: Db,
  hasher: TokenHasher,
  domainId: string,
  adminToken: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${0x6b657961})`)
    await tx
      .insert(users)
      .values({ domainId, email: FIRST_ADMIN, givenName: 'Admin' })
      .onConflictDoNothing()
    const [admin] = await tx
      .select()
      .from(users)
      .where(and(eq(users.domainId, domainId), eq(users.email, FIRST_ADMIN)))
    if (!admin) throw new Error('the first admin could not be made')
    await tx
      .insert(userRoles)
      .values({ domainId, userId: admin.id, role: 'Admin' })
      .onConflictDoNothing()
    const kept = await tx
      .select()
      .from(apiTokens)
      .where(eq(apiTokens.prefix, hasher.prefixOf(adminToken)))
    if (kept.some(({ hash }) => hasher.matches(adminToken, hash))) return
    const token = {
      userId: admin.id,
      domainId,
      name: 'operator',
      description: 'KEYWAY_ADMIN_TOKEN',
      readOnly: false,
      expiresAt: null,
    }
    await keepToken(tx, hasher, token, adminToken)
  })
}
