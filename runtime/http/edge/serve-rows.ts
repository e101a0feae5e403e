/** The one pipeline of interfaces whose operations are rows of a table: core, SCIM and the operator's. */
import type { Context, Hono } from 'hono'
import type { Env } from './env.ts'
import { unanswered } from './to-core-error.ts'

type RowInterface<N extends string, R> = {
  rows: readonly (readonly [name: N, row: R])[]
  /** What stands before the path of each row. */
  prefix?: string
  /** Judges a request by its row, does what it asks for, and answers. */
  answer(c: Context<Env>, name: N, row: R): Promise<Response>
  /** What was thrown, in the form of this interface; or throws what the whole app has an answer for. */
  refuse(c: Context<Env>, thrown: unknown): Response
  /** `allow`: the methods that the path has, as its header says them. */
  wrongMethod(c: Context<Env>, allow: string): Response
  /** Hears of every answer: the name of its row, the status, the time that it took. */
  onAnswer?(name: N, status: number, seconds: number): void
  /** How long an answer to GET is waited for, in milliseconds. What changes something is waited for until it is known. */
  readMs: number
}

/** Adds a route for each row, and after all of them a refusal of the same paths with a method that no row has. */
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

/** An answer, or a refusal once it has taken too long. One that comes later is let go. @throws CoreError unavailable */
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
