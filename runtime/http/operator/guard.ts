/**
 * Access to /operator. The database decides; while it is unavailable, the operator's own token still works.
 */
import type { Context, MiddlewareHandler } from 'hono'
import { PackageError } from '../../connectors/packages/format.ts'
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError, type RefusalKind, type ValidationEntry } from '../../contract/errors/problem.ts'
import { placeAt } from '../../contract/schema/place.ts'
import { FileError } from '../../core/directory/import/findings.ts'
import { TOKEN_PREFIX, type TokenHasher } from '../../core/kernel/identity/token-hasher.ts'
import { noteUse } from '../../core/kernel/identity/tokens.ts'
import { authenticateOperator, type Operator } from '../../core/sign-in/operator.ts'
import type { OperatorStanding } from '../../core/sign-in/operator-standing.ts'
import type { Db } from '../../database/database.ts'
import type { Env } from '../edge/env.ts'
import { bearerOf, isSecret, noToken } from '../edge/guards.ts'
import { OUTAGES, outageOf } from '../edge/to-core-error.ts'

export type OperatorGuardDeps = {
  operator: OperatorStanding
  /** Returns null until the database has been reached. */
  db(): Db | null
  hasher: TokenHasher
}

/** Time after which the operator's token is judged without the database, in milliseconds. */
const DATABASE_PATIENCE_MS = 3000

/**
 * Refuses callers who may not operate: 401, 403, or 503 if only the database could tell. While it is
 * unavailable, the operator's token keeps its last known state.
 */
export function operatorGuard(deps: OperatorGuardDeps): MiddlewareHandler<Env> {
  const { operator, hasher } = deps
  const isOwn = isSecret(operator.token)
  return async (c, next) => {
    const token = bearerOf(c)
    if (!token.startsWith(TOKEN_PREFIX)) throw noToken(c, '/operator')
    const ask = () => asOperator(c, () => authenticateOperator(reached(deps.db()), hasher, token))
    c.set('operator', ask)
    const found = isOwn(token) ? await askOfOwn(c, operator, ask) : await ask()
    if (found?.readOnly && !['GET', 'HEAD'].includes(c.req.method))
      throw new RuntimeError('token_forbidden', 'This token is read-only')
    if (found) await asOperator(c, () => noteUse(reached(deps.db()), found))
    await next()
  }
}

/**
 * Authenticates the operator's own token. Returns null if the database is unavailable and the token was valid
 * before.
 */
async function askOfOwn(
  c: Context<Env>,
  operator: OperatorStanding,
  ask: () => Promise<Operator>,
): Promise<Operator | null> {
  try {
    const found = await soon(c, ask)
    operator.heard('good')
    return found
  } catch (error) {
    const code = error instanceof RuntimeError ? error.code : null
    if (code === 'token_missing' && operator.last() === 'good') operator.heard('ended')
    if (code !== 'database_away' || operator.last() === null) throw error
    // The request is let in, so there is nothing to retry.
    c.header('retry-after', undefined)
    if (operator.last() === 'good') return null
    throw noToken(c, '/operator')
  }
}

/** Returns the database's answer. If it takes too long, reports the database as unavailable. */
async function soon<T>(c: Context<Env>, ask: () => Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(reject, DATABASE_PATIENCE_MS, new Error('the database does not respond'))
  const asked = ask()
  // A failure after the timeout concerns no caller.
  asked.catch(() => {})
  return Promise.race([asked, asOperator(c, () => late.catch(silent))]).finally(() =>
    clearTimeout(timer),
  )
}

function silent(cause: unknown): never {
  throw new RuntimeError('database_away', OUTAGES.away.words, {}, cause)
}

/** Returns the database. @throws RuntimeError `database_away` if there is none */
export function reached(db: Db | null): Db {
  if (db) return db
  throw new RuntimeError('database_away', OUTAGES.away.words)
}

/** Kinds of refusals of the operator's endpoints, and their codes. Any other refusal is a defect. */
const CODES: Partial<Record<RefusalKind, RuntimeCode>> = {
  forbidden: 'token_forbidden',
  not_found: 'record_unknown',
  conflict: 'state_conflict',
}

/** Performs an operation of the core, and converts its refusals to the format of /operator. */
export async function asOperator<T>(c: Context<Env>, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (thrown) {
    return refuseOperator(c, thrown)
  }
}

/** Throws the error again in the format of /operator. */
export function refuseOperator(c: Context<Env>, thrown: unknown): never {
  const error = translated(c, thrown)
  if (error instanceof RuntimeError && error.code === 'database_away')
    c.header('retry-after', String(OUTAGES[outageOf(thrown) ?? 'away'].retryAfterSeconds))
  throw error
}

function translated(c: Context<Env>, thrown: unknown): unknown {
  const outage = outageOf(thrown)
  if (outage !== null) return new RuntimeError('database_away', OUTAGES[outage].words, {}, thrown)
  // The connector interface uses this code when no client is left to read the answer. Here it must not look
  // like a success.
  if (thrown instanceof RuntimeError && thrown.code === 'caller_gone')
    return new RuntimeError('input_invalid', thrown.message, {}, thrown)
  if (thrown instanceof FileError) {
    const { findings, total } = thrown
    return new RuntimeError('input_invalid', thrown.message, { raw: { findings, total } })
  }
  if (thrown instanceof PackageError)
    return new RuntimeError('input_invalid', thrown.message, {}, thrown)
  if (!(thrown instanceof CoreError)) return thrown
  if (typeof thrown.detail !== 'string')
    return new RuntimeError('input_invalid', thrown.detail.map(wordsOf).join('; '))
  if (thrown.kind === 'unauthenticated') return noToken(c, '/operator')
  const code = CODES[thrown.kind]
  return code ? new RuntimeError(code, thrown.message) : thrown
}

const wordsOf = ({ loc, msg }: ValidationEntry): string => `${placeAt(loc)}: ${msg}`
