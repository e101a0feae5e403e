/** What goes wrong while a page is made: as a page, in the words of the core. */
import type { Context } from 'hono'
import type { CoreError } from '../../contract/errors/problem.ts'
import type { Log } from '../../observe/log.ts'
import type { Env } from '../edge/env.ts'
import { toCoreError } from '../edge/to-core-error.ts'
import type { Markup } from './layout.ts'

const TITLES: Record<number, string> = {
  400: 'That form cannot be read',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Not here',
  409: 'Not now',
  413: 'Too much',
  415: 'That form cannot be read',
  422: 'That does not fit',
  429: 'Too many tries',
  503: 'Try again in a moment',
}

/** Makes the handler of everything that a page throws. */
export const createErrorPage =
  (log: Log, page: (title: string, text: string) => Markup) =>
  (thrown: Error, c: Context<Env>): Response | Promise<Response> => {
    const requestId = c.get('requestId')
    const error = toCoreError(thrown, requestId)
    if (error.status >= 500)
      log.error({ err: error.cause, requestId, path: c.req.path }, error.message)
    for (const [name, value] of Object.entries(error.headers)) c.header(name, value)
    return c.html(
      page(TITLES[error.status] ?? 'Something went wrong', wordsOf(error)),
      error.status,
    )
  }

/** The words of an error: of what does not fit, what is wrong with each part. */
export function wordsOf({ detail }: CoreError): string {
  if (typeof detail === 'string') return sentence(detail)
  const words = detail.map(({ msg }) => msg.replace(/^Value error, /, ''))
  return sentence([...new Set(words)].join('; '))
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
