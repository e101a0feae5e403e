/** Who may come below /operator: the operator's token always, an admin's while the database is there. */
import type { Context, MiddlewareHandler } from 'hono'
import { CoreError, type ValidationEntry } from '../../contract/endpoints/problem.ts'
import { type RuntimeCode, RuntimeError } from '../../contract/errors.ts'
import { authenticateOperator, ownerOf } from '../../core/callers/operator.ts'
import { TOKEN_PREFIX, type TokenHasher } from '../../core/callers/principal.ts'
import { noteUse } from '../../core/callers/tokens.ts'
import { FileError } from '../../core/people/import/findings.ts'
import { type Db, isAway } from '../../database/database.ts'
import { PackageError } from '../../packages/format.ts'
import { AWAY } from '../core/to-core-error.ts'
import { bearerOf, isSecret, noToken } from '../guards.ts'
import type { Env } from '../problem.ts'

export type OperatorGuardDeps = {
  adminToken: string
  /** Null while the database has not been reached yet. */
  db(): Db | null
  hasher: TokenHasher
}

/** Refuses whoever may not operate: 401, 403, and 503 where only the database could tell. */
export function operatorGuard(deps: OperatorGuardDeps): MiddlewareHandler<Env> {
  const isAdminToken = isSecret(deps.adminToken)
  return async (c, next) => {
    const token = bearerOf(c)
    if (token !== '' && isAdminToken(token)) {
      c.set('operator', () =>
        asOperator(c, async () => ownerOf(reached(deps.db()), deps.hasher, deps.adminToken)),
      )
    } else {
      if (!token.startsWith(TOKEN_PREFIX)) throw noToken(c, '/operator')
      const principal = await asOperator(c, () => byDatabase(c, deps))
      c.set('operator', async () => principal)
    }
    await next()
  }
}

async function byDatabase(c: Context<Env>, { db, hasher }: OperatorGuardDeps) {
  const there = reached(db())
  const principal = await authenticateOperator(there, hasher, c.req.header('authorization'))
  if (principal.readOnly && !['GET', 'HEAD'].includes(c.req.method))
    throw new CoreError(403, 'This token may only read')
  await noteUse(there, principal, new Date())
  return principal
}

/** The database, or word that it is away. */
export function reached(db: Db | null): Db {
  if (db) return db
  throw new RuntimeError('database_away', AWAY.words)
}

const CODES: Partial<Record<number, RuntimeCode>> = {
  403: 'token_forbidden',
  404: 'record_unknown',
  409: 'state_conflict',
}

/** Does something of the core; what it refuses is told in the form that /operator answers in. */
export async function asOperator<T>(c: Context<Env>, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (thrown) {
    const error = translated(c, thrown)
    if (error instanceof RuntimeError && error.code === 'database_away')
      c.header('retry-after', String(AWAY.retryAfterSeconds))
    throw error
  }
}

function translated(c: Context<Env>, thrown: unknown): unknown {
  if (isAway(thrown)) return new RuntimeError('database_away', AWAY.words, {}, thrown)
  // To the connector interface this is an answer that nobody gets; here it must not look like a success.
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
  if (thrown.status === 401) return noToken(c, '/operator')
  const code = CODES[thrown.status]
  return code ? new RuntimeError(code, thrown.message) : thrown
}

const wordsOf = ({ loc, msg }: ValidationEntry): string => `${loc.join('.')}: ${msg}`
