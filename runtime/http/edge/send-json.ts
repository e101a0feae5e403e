/** Answers in JSON whose type is known by a schema alone. */
import type { Context } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import type { Env } from './env.ts'

/** Sends a value as JSON, of any type: Hono's own function asks for one that it can give to a client. */
export const sendJson = (
  c: Context<Env>,
  value: unknown,
  status: StatusCode,
  headers: Record<string, string> = {},
): Response =>
  c.newResponse(JSON.stringify(value), status, { ...headers, 'content-type': 'application/json' })
