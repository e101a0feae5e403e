/**
 * Time limits of pages. If the database stops responding, or another system is slow, the person gets a
 * message instead of waiting. The started work goes on and may still complete.
 */
import type { Context } from 'hono'
import type { Pace } from '../../core/kernel/context/pace.ts'
import type { Env } from '../edge/env.ts'
import { PageError } from './error-page.ts'
import { PAGE_HEADERS } from './layout.ts'
import { localeFor } from './locale.ts'

/** Retry delay, in seconds. */
const RETRY_SECONDS = 10

/**
 * Work of a page: `read` shows something; `work` handles a form or creates a file; `upload` receives a file,
 * which takes as long as the person's connection needs, so only what follows counts as `work`.
 */
export type PageKind = 'read' | 'work' | 'upload'

export const usualKind = ({ req }: Context<Env>): PageKind =>
  req.method === 'GET' ? 'read' : 'work'

/** Returns the answer of a page. @throws PageError `unavailable` after the time limit */
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
      const { w } = localeFor(c)
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
 * Creates the function with which routes answer with pages: with page headers and within the time limit. The
 * headers are set here, because a middleware before all routes would apply to the whole host.
 */
export const createAsPage =
  (pace: Pick<Pace, 'pageMs' | 'formMs'>) =>
  (make: (c: Context<Env>) => Promise<Response>, kind?: PageKind) =>
  (c: Context<Env>): Promise<Response> => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
    return inTime(c, pace, kind ?? usualKind(c), make(c))
  }
