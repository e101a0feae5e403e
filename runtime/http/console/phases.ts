/**
 * Timeline of a call: its requests, and the time in between, which is spent in Keyway and the connector. Pure
 * functions.
 */
import type { CallRecord } from '../../contract/endpoints/operator.ts'

type Upstream = CallRecord['upstream'][number]

/**
 * PHASES: `start` is the wait for a slot, the sandbox and the connector until its first request; `reply`
 * follows the last request.
 */
const PHASES = ['start', 'request', 'between', 'reply', 'all'] as const

export type Phase = {
  what: (typeof PHASES)[number]
  beginMs: number
  ms: number
  /** The request of this phase, or null. */
  request: Upstream | null
}

/** Returns all phases by their start. Requests may run concurrently. */
export function phasesOf({ ms, upstream }: Pick<CallRecord, 'ms' | 'upstream'>): Phase[] {
  const own = (what: Phase['what'], beginMs: number, endMs: number): Phase[] =>
    endMs > beginMs ? [{ what, beginMs, ms: endMs - beginMs, request: null }] : []
  if (upstream.length === 0) return own('all', 0, Math.max(ms, 0.1))
  const phases: Phase[] = []
  let doneMs = 0
  for (const request of [...upstream].sort((a, b) => a.begin_ms - b.begin_ms)) {
    const beginMs = Math.min(request.begin_ms, ms)
    phases.push(...own(phases.length === 0 ? 'start' : 'between', doneMs, beginMs))
    phases.push({ what: 'request', beginMs, ms: request.ms, request })
    doneMs = Math.max(doneMs, beginMs + request.ms)
  }
  return [...phases, ...own('reply', doneMs, ms)]
}

/** Returns the look of a phase: failed or refused, answered with an error, answered, or own time. */
export function phaseLook({ request }: Phase): 'bad' | 'wait' | 'busy' | '' {
  if (request === null) return ''
  if (request.error !== null) return 'bad'
  return (request.status ?? 0) >= 400 ? 'wait' : 'busy'
}
