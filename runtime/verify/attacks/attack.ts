/**
 * What an attack is: data for the run, the tests and the generated page. Its code is in
 * `test/hostile/<family>/<name>.ts`, or in a shared folder; its first comment says what it tries.
 */
import type { ErrorCode } from '../../contract/errors/error-codes.ts'

/** The kinds of attack, in the order in which they run, and what each is about. */
export const FAMILIES = {
  time: 'code that does not end, or ends too late',
  memory: 'code that takes memory until there is none',
  wall: 'values made to break their reader on the other side of the wall',
  out: 'ways out of the sandbox',
  compiler: 'sources made to lead the bundler astray',
  network: 'ways through egress, and upstreams that attack',
  directory: 'ways through `ctx.ldap`, and directories that attack',
  database: 'ways through `ctx.sql`, and databases that attack',
  secrets: 'code written to steal the credentials that it works with',
  neighbour: 'harm to other tenants, connectors and the operator',
  shared:
    'harm to other tenants of the same connector, whose isolates are in the same worker process',
  worker: 'a worker process that was taken over, and says to the host what it likes',
} as const

export type Family = keyof typeof FAMILIES

/**
 * How an attack may end: a wire code, a harmless valid answer, or a connector that is not served at all
 * (`ghost`).
 */
type Ending = ErrorCode | 'answer' | 'ghost'

/** Which of the three promises of architecture.md section 1 is attacked. */
type Promised = 1 | 2 | 3

export type Attack = {
  /** Name of its file unless `shared`, and id of its connector. */
  name: string
  /** For attacks with the same code: the folder of that code, and the content of its `parameter.ts`. */
  shared?: { source: string; parameter: string }
  promise: Promised
  /** How it may end; anything else is a defect. */
  ends: readonly Ending[]
  /** Its worker process may die of it; it may not otherwise. */
  workerMayDie?: true
  /** Part of the selection that the tests run. */
  quick?: true
  /** The manifest's wishes: 500 ms and 64 MiB unless written. */
  deadlineMs?: number
  memoryMb?: number
  /** Members of the manifest that are other than usual. */
  manifest?: object
  /** Other files of the folder by path; made when the attack is, because some are large. */
  files?: () => Record<string, string | Buffer>
  /** Links of the folder: path, and where each leads. `{secrets}` is the host's data directory. */
  links?: Readonly<Record<string, string>>
  /** How many calls make the attack, how many at once, and for how many tenants in turn: 1 of each. */
  calls?: number
  together?: number
  tenants?: number
  /** The same for a quick run. */
  quickCalls?: number
  /**
   * During the attack another tenant of the same connector, whose isolate is in the attacked worker process, calls
   * `get_account`; each of its calls must be answered within this time, in milliseconds.
   */
  besideMs?: number
  /** The calls request a sequence of this many pages, each with the token of the one before. */
  pages?: number
  /** Settings of the calls, one call for each. `{canary}`, `{upstream}`, `{directory}` and `{database}` are servers of the run, `{tenant}` names the tenant. */
  settings?: readonly Readonly<Record<string, string>>[]
  /** What its callers send as their token, made of the usual one of the tenant. */
  token?: (usual: string) => string
  /** Its callers send a user name and a password instead of a token. */
  basic?: true
  /** The text of the request, where JSON.stringify would not write it. */
  requestJson?: string
  /** Its connector may reach the upstream of the run. */
  granted?: true
  /** The core makes its calls, as a sync does: the host parses what it answers. */
  byCore?: true
  /** Longest that /healthz may take meanwhile (p99), beyond a call's time in quiet, in milliseconds. */
  healthMs?: number
  /** What may not stand in an answer. */
  never?: RegExp
  /** What a worker process that was taken over does, by its name in `hostile-worker.mjs`. */
  deed?: string
  /** Time from its folder being there to its first call, in milliseconds. */
  armedAfterMs?: number
  /** Its own later calls end like the attack: it harms nobody but itself. */
  staysDown?: true
}

/** What a connector that found a way writes into its answer; no answer may hold it. */
export const ESCAPED = 'ESCAPED'

/** Whether the attack is the folder itself: nothing of it is ever served. */
export const isRefused = ({ ends }: Attack): boolean => ends.includes('ghost')

export const DEADLINE_MS = 500
export const MEMORY_MB = 64
