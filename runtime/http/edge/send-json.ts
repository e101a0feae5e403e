/** JSON answers whose type is known only by a schema. */
import type { Context } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import type { Env } from './env.ts'

/** Sends any value as JSON. Hono's own function requires a static type. */
export const sendJson = (
  c: Context<Env>,
  value: unknown,
  status: StatusCode,
  headers: Record<string, string> = {},
): Response =>
  c.newResponse(JSON.stringify(value), status, { ...headers, 'content-type': 'application/json' })
