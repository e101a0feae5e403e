/**
 * Until when a page is there. Nobody looks at an empty window for ever: where the database says nothing any more, or another
 * system takes its time, the person is told. What was begun goes on meanwhile, and may still be done.
 */
import type { Context } from 'hono'
import type { Pace } from '../../core/kernel/context/pace.ts'
import type { Env } from '../edge/env.ts'
import { PageError } from './error-page.ts'
import { PAGE_HEADERS } from './layout.ts'
import { tongueFor } from './tongue.ts'

/** How soon to try again, in seconds. */
const RETRY_SECONDS = 10

/**
 * What a page does: `read` shows something, `work` is a form that was sent, or a file; `upload` waits for what a person
 * sends, which takes as long as their line needs: only what follows is `work`.
 */
export type PageKind = 'read' | 'work' | 'upload'

export const usualKind = ({ req }: Context<Env>): PageKind =>
  req.method === 'GET' ? 'read' : 'work'

/** The answer of a page. @throws PageError unavailable once it has taken too long */
export async function inTime<T>(
  c: Context<Env>,
  { pageMs, formMs }: Pick<Pace, 'pageMs' | 'formMs'>,
  kind: PageKind,
  answer: Promise<T>,
): Promise<T> {
  if (kind === 'upload') return answer
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => {
      const { w } = tongueFor(c)
      const words = kind === 'read' ? w.page_too_slow : w.work_too_slow
      over.reject(new PageError('unavailable', words, { retryAfterSeconds: RETRY_SECONDS }))
    },
    kind === 'read' ? pageMs : formMs,
  )
  try {
    return await Promise.race([answer, over.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * How routes answer with pages: with their headers, and in time. The headers are set here and not by a step before all
 * routes, which would be one of the whole host.
 */
export const createAsPage =
  (pace: Pick<Pace, 'pageMs' | 'formMs'>) =>
  (make: (c: Context<Env>) => Promise<Response>, kind?: PageKind) =>
  (c: Context<Env>): Promise<Response> => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
    return inTime(c, pace, kind ?? usualKind(c), make(c))
  }
