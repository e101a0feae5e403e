/**
 * Everything that somebody else chooses and that a host parses or looks through as a whole: one row each, with its
 * bounds. What is not here comes in pieces, or is passed on as it is. Nothing here keeps the main thread for longer
 * than 50 ms: bytes bound what is looked through, marks of structure (see `marksIn`) bound what is parsed and judged.
 */
export type InputBounds = {
  /** What it is, and who chooses it. */
  what: string
  chosenBy: string
  maxBytes: number
  /** Most marks of structure; null where it is not parsed as JSON. */
  maxMarks: number | null
  /** Where it is worked on. */
  where: 'main thread' | 'main thread, in slices' | 'thread of its own'
  /** What the worst input at its bounds takes of the main thread at once, in milliseconds of a core of 2024. */
  worstMs: 1 | 5 | 10 | 20 | 50
  /** What becomes of more. */
  over: string
}

const KIB = 1024
const MIB = 1024 * KIB

const ASKED_413 = '413: send it in several parts'

export const INPUTS = {
  call_body: {
    what: 'body of a call of a connector',
    chosenBy: 'callers',
    maxBytes: MIB,
    maxMarks: 65_536,
    where: 'main thread',
    worstMs: 50,
    over: ASKED_413,
  },
  core_body: {
    what: 'body of the core interface',
    chosenBy: 'callers with a token',
    maxBytes: MIB,
    maxMarks: 65_536,
    where: 'main thread',
    worstMs: 50,
    over: ASKED_413,
  },
  upload: {
    what: 'uploaded accounts and activity records',
    chosenBy: 'callers with a token',
    maxBytes: 8 * MIB,
    maxMarks: 262_144,
    where: 'thread of its own',
    worstMs: 20,
    over: ASKED_413,
  },
  operator_body: {
    what: 'body of an operator’s endpoint',
    chosenBy: 'operators',
    maxBytes: MIB,
    maxMarks: 16_384,
    where: 'main thread',
    worstMs: 50,
    over: ASKED_413,
  },
  people_row: {
    what: 'row of a file of people',
    chosenBy: 'operators',
    maxBytes: 256 * KIB,
    maxMarks: null,
    where: 'main thread, in slices',
    worstMs: 20,
    over: 'the import is refused, with the line',
  },
  package_file: {
    what: 'file of a package, of which the digest is made',
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
    what: 'connector.cases.json, with what its cases share put in',
    chosenBy: 'authors of connectors',
    maxBytes: 8 * MIB,
    maxMarks: 65_536,
    where: 'main thread, in slices',
    worstMs: 50,
    over: 'the connector is refused',
  },
  source_map: {
    what: 'source map of a connector that threw something',
    chosenBy: 'authors of connectors',
    maxBytes: MIB,
    maxMarks: null,
    where: 'main thread',
    worstMs: 50,
    over: 'an error names no place in the source',
  },
  core_reply: {
    what: 'reply of a connector to the core, a page of a sync for one',
    chosenBy: 'connectors',
    maxBytes: 4 * MIB,
    maxMarks: 65_536,
    where: 'main thread',
    worstMs: 50,
    over: 'the call fails: answer smaller pages',
  },
  error_raw: {
    what: 'raw data of an error of a connector',
    chosenBy: 'connectors',
    maxBytes: MIB,
    maxMarks: 65_536,
    where: 'main thread',
    worstMs: 50,
    over: 'left out',
  },
  worker_head: {
    what: 'head of a message of a worker process',
    chosenBy: 'connectors that broke out of their sandbox',
    maxBytes: 2 * MIB,
    maxMarks: 65_536,
    where: 'main thread',
    worstMs: 50,
    over: 'the worker is ended',
  },
  upstream_json: {
    what: 'JSON of an upstream that the host reads itself: logins, tokens, errors in a body; a body with secrets',
    chosenBy: 'upstreams and connectors',
    maxBytes: 256 * KIB,
    maxMarks: null,
    where: 'main thread',
    worstMs: 50,
    over: 'not read; a body with secrets is refused',
  },
  webhook_reply: {
    what: 'answer of an inline webhook',
    chosenBy: 'receivers of webhooks',
    maxBytes: MIB,
    maxMarks: 65_536,
    where: 'main thread',
    worstMs: 50,
    over: 'the webhook failed, as one that answers something else than JSON',
  },
} as const satisfies Record<string, InputBounds>

export type InputName = keyof typeof INPUTS
