/**
 * The data of an attack, read by the run, the tests and the generated page. Its code is in
 * `test/hostile/<family>/<name>.ts`, or in a shared folder. The first comment of that code describes the
 * attack.
 */
import type { ErrorCode } from '../../contract/errors/error-codes.ts'

/** Families of attacks, in the order in which they run, each with its subject. */
export const FAMILIES = {
  time: 'code that does not end, or ends too late',
  memory: 'code that uses memory until none is left',
  wall: 'values that attack the code that reads them',
  out: 'attempts to leave the sandbox',
  compiler: 'sources that mislead the bundler',
  network: 'attempts to bypass egress, and hostile upstreams',
  directory: 'attempts to misuse `ctx.ldap`, and hostile directories',
  database: 'attempts to misuse `ctx.sql`, and hostile databases',
  secrets: 'code that tries to steal the credentials that it uses',
  neighbour: 'harm to other tenants, connectors and the operator',
  shared:
    'harm to other tenants of the same connector, whose isolates are in the same worker process',
  worker: 'a compromised worker process that sends arbitrary messages to the host',
} as const

export type Family = keyof typeof FAMILIES

/**
 * Permitted end of an attack: a wire code, a harmless valid answer, or a connector that is never served
 * (`ghost`).
 */
type Ending = ErrorCode | 'answer' | 'ghost'

/** Number of the attacked promise of architecture.md section 1. */
type Promised = 1 | 2 | 3

export type Attack = {
  /** Name of the attack's file unless `shared`, and id of its connector. */
  name: string
  /** For attacks that share code: the folder of the code, and the content of its `parameter.ts`. */
  shared?: { source: string; parameter: string }
  promise: Promised
  /** Permitted ends. Any other end is a defect. */
  ends: readonly Ending[]
  /** The attack may end its worker process. Without this, a dead worker is a finding. */
  workerMayDie?: true
  /** Part of the selection that the tests run. */
  quick?: true
  /** Limits that the manifest requests. Default: 500 ms and 64 MiB. */
  deadlineMs?: number
  memoryMb?: number
  /** Members of the manifest that differ from the usual one. */
  manifest?: object
  /** Other files of the folder, by path. Made on demand, because some are large. */
  files?: () => Record<string, string | Buffer>
  /** Symbolic links of the folder: path and target. `{secrets}` is the host's data directory. */
  links?: Readonly<Record<string, string>>
  /** Number of calls, of concurrent calls, and of tenants that take turns. Default: 1 each. */
  calls?: number
  together?: number
  tenants?: number
  /** Number of calls in a quick run. */
  quickCalls?: number
  /**
   * During the attack, another tenant of the same connector, with its isolate in the attacked worker process,
   * calls `get_account`. Each of these calls must be answered within this time, in milliseconds.
   */
  otherTenantMs?: number
  /** The calls request a sequence of this many pages, each with the token of the previous page. */
  pages?: number
  /**
   * Settings of the calls, one call for each. `{canary}`, `{upstream}`, `{directory}` and `{database}` are
   * servers of the run. `{tenant}` names the tenant.
   */
  settings?: readonly Readonly<Record<string, string>>[]
  /** Makes the token that the callers send from the tenant's usual one. */
  token?: (usual: string) => string
  /** The callers send a user name and a password instead of a token. */
  basic?: true
  /** Text of the request, if JSON.stringify cannot produce it. */
  requestJson?: string
  /** The connector may reach the upstream of the run. */
  granted?: true
  /** The core makes the calls, as in a sync. The host then parses the answers. */
  byCore?: true
  /** Maximum p99 of /healthz during the attack, on top of its p99 without one, in milliseconds. */
  healthMs?: number
  /** Pattern that no answer may contain. */
  never?: RegExp
  /** Action of a compromised worker process, by its name in `hostile-worker.mjs`. */
  action?: string
  /** Time from the folder's creation to the first call, in milliseconds. */
  armedAfterMs?: number
  /** Later calls of the connector end like the attack, because the attack affects only itself. */
  staysDown?: true
}

/** Text that a connector writes into its answer if it has escaped. No answer may contain it. */
export const ESCAPED = 'ESCAPED'

/** Reports whether the folder itself is the attack, so that its connector is never served. */
export const isRefused = ({ ends }: Attack): boolean => ends.includes('ghost')

export const DEADLINE_MS = 500
export const MEMORY_MB = 64
