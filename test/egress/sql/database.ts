/** Databases for tests of the egress: one server per test file, trusted by this process only. */
import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { SqlStatement } from '../../../runtime/contract/connector/sql.ts'
import type { EgressCall } from '../../../runtime/egress/call/call.ts'
import type { EgressOptions } from '../../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../../runtime/egress/limits/grants.ts'
import { installSystem, missing, type Postgresql } from '../../real-systems/start.ts'
import { manifestOf, openEgress } from '../fixtures/open-egress.ts'
import { basicSecrets } from '../ldap/directory.ts'

/** Installs a server. Returns why it cannot be installed here, or null. */
export async function absentHere(script: string, ...tools: string[]): Promise<string | null> {
  const absent = missing('apt-get', 'openssl', ...tools)
  if (absent !== null) return absent
  const had = await installSystem(script)
  return 'why' in had ? had.why : null
}

/** Why PostgreSQL is not available here; null if it is. */
export const noDatabase: string | null = await absentHere('postgresql', 'setpriv')

export type Database = Postgresql & { stop(): Promise<void> }

/** Starts a server in a folder of its own; its certificates are trusted from then on. */
export async function startServer<S extends { ca: string }>(
  script: string,
  env: Record<string, string> = {},
): Promise<S> {
  const other = await installSystem(script)
  if ('why' in other) throw new Error(other.why)
  // The cast is safe if the caller's `S` describes what the script prints.
  const started = (await other.system.start(env)) as unknown as S
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(started.ca, 'utf8')])
  return started
}

export const startDatabase = (env: Record<string, string> = {}): Promise<Database> =>
  startServer('postgresql', env)

type Statement = Partial<SqlStatement> & { text: string }

/** An egress, opened for one call to a database. */
export function egressTo(
  { host, port, database, auth }: Pick<Postgresql, 'host' | 'port' | 'database' | 'auth'>,
  {
    entry = {},
    plain = false,
    user = auth,
    statements,
    requestsPerSecond = 50,
    call = {},
    ...options
  }: {
    statements: Record<string, Statement>
    requestsPerSecond?: number
    entry?: object
    plain?: boolean
    user?: { username: string; password: string }
    call?: Partial<EgressCall>
  } & Partial<EgressOptions>,
) {
  const at = `${host}:${port}`
  const egress = [
    {
      sql: `postgresql://${at}`,
      dialect: 'postgresql',
      database,
      login: { credential: 'auth' },
      ...entry,
    },
  ]
  return openEgress({
    egress,
    grants: `acme=${at}`,
    plainSql: parsePrivateGrants(plain ? `acme=${at}` : ''),
    call: {
      manifest: manifestOf(egress, {
        statements,
        limits: { requests_per_second: requestsPerSecond },
      }),
      secrets: basicSecrets(user.username, user.password),
      tenant: user.username,
      ...call,
    },
    ...options,
  })
}

/** One request of `ctx.sql`, as it reaches the egress. */
export const sql = (method: string, body: object, signal?: AbortSignal) => ({
  url: 'sql:',
  method,
  headers: [],
  body: Buffer.from(JSON.stringify(body)),
  redirect: 'error' as const,
  ...(signal ? { signal } : {}),
})
