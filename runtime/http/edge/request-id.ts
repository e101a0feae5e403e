/** Id of a request. Its answer and all its log lines carry it. */
import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import type { Env } from './env.ts'

/** Response header with the id of the request. */
export const REQUEST_ID = 'x-request-id'

/** Headers in which callers send an id of their own (connector-interface.md section 1.1). */
export const CORRELATION = [
  REQUEST_ID,
  'x-lumos-observability-flows_v2_execution_id',
  'x-lumos-observability-dagster.run_id',
]

/** Sets the id of a request: the caller's own if it is a plain word. */
export function nameRequest(c: Context<Env>): string {
  const requestId = requestIdOf((name) => c.req.header(name))
  c.set('requestId', requestId)
  return requestId
}

/** Returns the id of a request with these headers. */
export function requestIdOf(header: (name: string) => string | undefined): string {
  for (const name of CORRELATION) {
    const given = header(name)
    if (given === undefined) continue
    return /^[a-zA-Z0-9._-]{1,100}$/.test(given) ? given : randomUUID()
  }
  return randomUUID()
}
