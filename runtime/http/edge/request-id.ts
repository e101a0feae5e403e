/** The id of a request, which its answer and every line of the log about it carry. */
import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import type { Env } from './env.ts'

/** The header of an answer with the id of its request. */
export const REQUEST_ID = 'x-request-id'

/** Headers that may carry the caller's own id of a request (connector-interface.md section 1.1). */
export const CORRELATION = [
  REQUEST_ID,
  'x-lumos-observability-flows_v2_execution_id',
  'x-lumos-observability-dagster.run_id',
]

/** Gives a request its id: the caller's own, where it is a plain word. */
export function nameRequest(c: Context<Env>): string {
  const requestId = requestIdOf((name) => c.req.header(name))
  c.set('requestId', requestId)
  return requestId
}

/** The id of a request with these headers. */
export function requestIdOf(header: (name: string) => string | undefined): string {
  for (const name of CORRELATION) {
    const given = header(name)
    if (given === undefined) continue
    return /^[a-zA-Z0-9._-]{1,100}$/.test(given) ? given : randomUUID()
  }
  return randomUUID()
}
