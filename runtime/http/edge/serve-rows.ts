/** The pipeline of interfaces whose operations are rows of a table: core, SCIM and the operator's. */
import type { Context, Hono } from 'hono'
import type { Env } from './env.ts'
import { unanswered } from './to-core-error.ts'

type RowInterface<N extends string, R> = {
  rows: readonly (readonly [name: N, row: R])[]
  /** Prefix of each path. */
  prefix?: string
  /** Validates a request by its row, performs it, and answers. */
  answer(c: Context<Env>, name: N, row: R): Promise<Response>
  /** Converts a thrown error to this interface's format, or throws an error that the app handles. */
  refuse(c: Context<Env>, thrown: unknown): Response
  /** Answers 405. `allow` is the value of the Allow header. */
  wrongMethod(c: Context<Env>, allow: string): Response
  /** Called after each answer, with the name of its row, the status and the duration in seconds. */
  onAnswer?(name: N, status: number, seconds: number): void
  /** Timeout of GET requests, in milliseconds. Changes have none, so that their outcome is reported. */
  readMs: number
}

/** Adds a route for each row. Afterwards it adds routes that refuse other methods on the same paths. */
export function serveRows<N extends string, R extends { method: string; path: string }>(
  routes: Hono<Env>,
  { rows, prefix = '', answer, refuse, wrongMethod, onAnswer, readMs }: RowInterface<N, R>,
): void {
  for (const [name, row] of rows)
    routes.on(row.method, prefix + row.path, async (c) => {
      const beganMs = performance.now()
      const answered = answer(c, name, row)
      const waited = row.method === 'GET' ? within(readMs, answered) : answered
      const reply = await waited.catch((thrown: unknown) => refuse(c, thrown))
      onAnswer?.(name, reply.status, (performance.now() - beganMs) / 1000)
      return reply
    })
  for (const [path, all] of Map.groupBy(rows, ([, row]) => row.path)) {
    const allow = all.map(([, { method }]) => method).join(', ')
    routes.all(prefix + path, (c) => wrongMethod(c, allow))
  }
}

/**
 * Returns the answer. If it comes after the timeout, its body is cancelled.
 *
 * @throws CoreError `unavailable` after the timeout
 */
async function within(waitMs: number, answered: Promise<Response>): Promise<Response> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    over.reject(unanswered())
    answered.then(({ body }) => body?.cancel()).catch(() => undefined)
  }, waitMs)
  try {
    return await Promise.race([answered, over.promise])
  } finally {
    clearTimeout(timer)
  }
}
