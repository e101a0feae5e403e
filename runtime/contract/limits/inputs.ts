/**
 * Limits of one external input that a host parses or scans as a whole. Other inputs are streamed or passed on
 * unchanged. No input blocks the main thread for longer than 50 ms: the byte limit bounds scanning, the limit
 * of structural characters (see `marksIn`) bounds parsing and validation.
 */
export type InputBounds = {
  /** What the input is. */
  what: string
  chosenBy: string
  maxBytes: number
  /** Most structural characters; null if it is not parsed as JSON. */
  maxMarks: number | null
  /** Where it is processed. */
  where: 'main thread' | 'main thread, in slices' | 'worker thread'
  /** Longest time that the worst input blocks the main thread, in milliseconds on a CPU core of 2024. */
  worstMs: 1 | 5 | 10 | 20 | 50
  /** What happens to a larger input. */
  over: string
}

const KIB = 1024
const MIB = 1024 * KIB

/** JSON that the main thread parses as a whole. */
const atOnce = { maxBytes: MIB, maxMarks: 65_536, where: 'main thread', worstMs: 50 } as const

const REFUSED_413 = '413: send it in several parts'

export const INPUTS = {
  call_body: {
    what: 'body of a connector call',
    chosenBy: 'callers',
    ...atOnce,
    over: REFUSED_413,
  },
  core_body: {
    what: 'body of the core interface',
    chosenBy: 'callers with a token',
    ...atOnce,
    over: REFUSED_413,
  },
  upload: {
    what: 'uploaded accounts and activity records',
    chosenBy: 'callers with a token',
    maxBytes: 8 * MIB,
    maxMarks: 262_144,
    where: 'worker thread',
    worstMs: 20,
    over: REFUSED_413,
  },
  ldap_request: {
    what: 'request of `ctx.ldap`, with its secrets',
    chosenBy: 'connectors',
    ...atOnce,
    over: 'the request is refused',
  },
  sql_request: {
    what: 'request of `ctx.sql`, with its secrets',
    chosenBy: 'connectors',
    ...atOnce,
    over: 'the request is refused',
  },
  operator_body: {
    what: 'body of an operator endpoint',
    chosenBy: 'operators',
    maxBytes: MIB,
    maxMarks: 16_384,
    where: 'main thread',
    worstMs: 50,
    over: REFUSED_413,
  },
  people_row: {
    what: 'row of a people file',
    chosenBy: 'operators',
    maxBytes: 256 * KIB,
    maxMarks: null,
    where: 'main thread, in slices',
    worstMs: 20,
    over: 'the import is refused, with the line',
  },
  package_file: {
    what: 'file of a package, when its digest is computed',
    chosenBy: 'authors of connectors',
    maxBytes: 8 * MIB,
    maxMarks: null,
    where: 'main thread, in slices',
    worstMs: 20,
    over: 'the package is refused',
  },
  manifest: {
    what: 'connector.json',
    chosenBy: 'authors of connectors',
    maxBytes: 256 * KIB,
    maxMarks: 16_384,
    where: 'main thread',
    worstMs: 50,
    over: 'the connector is refused',
  },
  cases: {
    what: 'connector.cases.json, with shared parts expanded',
    chosenBy: 'authors of connectors',
    maxBytes: 8 * MIB,
    maxMarks: 65_536,
    where: 'main thread, in slices',
    worstMs: 50,
    over: 'the connector is refused',
  },
  source_map: {
    what: 'source map of a connector that threw an error',
    chosenBy: 'authors of connectors',
    maxBytes: MIB,
    maxMarks: null,
    where: 'main thread',
    worstMs: 50,
    over: 'errors have no source position',
  },
  core_reply: {
    what: 'reply of a connector to the core, such as a page of a sync',
    chosenBy: 'connectors',
    maxBytes: 4 * MIB,
    maxMarks: 65_536,
    where: 'main thread',
    worstMs: 50,
    over: 'the call fails: return smaller pages',
  },
  error_raw: {
    what: 'raw data of a connector error',
    chosenBy: 'connectors',
    ...atOnce,
    over: 'left out',
  },
  worker_head: {
    what: 'message head from a worker process',
    chosenBy: 'connectors that escaped their sandbox',
    maxBytes: 2 * MIB,
    maxMarks: 65_536,
    where: 'main thread',
    worstMs: 50,
    over: 'the worker is killed',
  },
  upstream_json: {
    what: 'upstream JSON that the host itself reads: logins, tokens, errors in a body; a body with secrets',
    chosenBy: 'upstreams and connectors',
    maxBytes: 256 * KIB,
    maxMarks: null,
    where: 'main thread',
    worstMs: 50,
    over: 'not read; a body with secrets is refused',
  },
  webhook_reply: {
    what: 'response of an inline webhook',
    chosenBy: 'webhook receivers',
    ...atOnce,
    over: 'the webhook fails, as for a response that is not JSON',
  },
} as const satisfies Record<string, InputBounds>

export type InputName = keyof typeof INPUTS
