/**
 * Shows an error as a page. Its message comes from the core in English, and is translated where a translation
 * exists.
 */
import type { Context } from 'hono'
import { html } from 'hono/html'
import { CoreError, type RefusalKind } from '../../contract/errors/problem.ts'
import type { Log } from '../../observe/log.ts'
import { refusalIn } from '../../words/refusals.ts'
import type { Env } from '../edge/env.ts'
import { logRefusal } from '../edge/log-refusal.ts'
import { REFUSAL_STATUS, refusalHeaders, statusOfRefusal } from '../edge/statuses.ts'
import { outageOf, toCoreError } from '../edge/to-core-error.ts'
import { type Form, readForm, refuseForeign } from './form.ts'
import type { Markup } from './layout.ts'
import { localeFor, type PageLocale } from './locale.ts'
import { ownPath } from './own-path.ts'

/** Content of an error page. */
export type ErrorSaid = {
  title: string
  text: Markup
  path: string
  /** The submitted form, if the error page must show its input because the form's own page cannot. */
  form: Form | null
  /** Whether the form has files. No page can restore these. */
  hasFiles: boolean
  /** Address to try again, or null if the result would be the same. */
  again: string | null
}

/** Creates the handler of all errors that pages throw. */
export const createErrorPage =
  (log: Log, page: (t: PageLocale, said: ErrorSaid) => Markup) =>
  async (thrown: Error, c: Context<Env>): Promise<Response> => {
    const requestId = c.get('requestId')
    const error = toCoreError(thrown, requestId)
    const status = statusOfRefusal(error)
    logRefusal(log, error, { requestId, path: c.req.path })
    for (const [name, value] of Object.entries(refusalHeaders(error))) c.header(name, value)
    const t = localeFor(c)
    const title = t.w.titles[status] ?? t.w.went_wrong
    const outage = outageOf(thrown)
    const text = outage === null ? saidBy(t, error) : html`${t.w.outages[outage]}`
    // A request that may succeed later is repeated or sent again, so its input must be kept.
    const mayWork = status >= 429
    const isForm = c.req.method === 'POST'
    const form = isForm && mayWork ? await sentForm(c) : null
    const again = !isForm && mayWork ? addressOf(c) : null
    const hasFiles = isForm && mayWork && isMultipart(c)
    return c.html(page(t, { title, text, path: c.req.path, form, hasFiles, again }), status)
  }

const isMultipart = (c: Context<Env>): boolean =>
  /^multipart\/form-data\b/i.test(c.req.header('content-type') ?? '')

const addressOf = (c: Context<Env>): string | null => {
  const { pathname, search } = new URL(c.req.url)
  return ownPath(`${pathname}${search}`)
}

/**
 * Returns the form of a request, reading it if it has not been read. Null if there is no form, or if another
 * site sent it.
 */
async function sentForm(c: Context<Env>): Promise<Form | null> {
  const read = c.get('form')
  if (read) return read
  try {
    refuseForeign(c)
    return await readForm(c)
  } catch {
    // The original error is reported.
    return null
  }
}

/** A refusal by a page itself. Its message is from the catalogue, in the language of the page. */
export class PageError extends CoreError {}

/** Creates a refusal of one field of a form, by the field's name. */
export const fieldError = (name: string, words: string): PageError =>
  new PageError('invalid', [{ loc: [name], msg: words, type: 'value_error' }])

/** Renders each problem of an error separately, as `saidBy` does. */
export const saidApart = (t: PageLocale, error: CoreError): Markup[] =>
  wordsOf(error).map((words) => wordsSaid(t, error, [words]))

/**
 * Renders an error within a page: in the page's language if it is translated, otherwise marked as English.
 */
export const saidBy = (t: PageLocale, error: CoreError): Markup =>
  wordsSaid(t, error, wordsOf(error))

function wordsSaid({ language }: PageLocale, error: CoreError, words: readonly string[]): Markup {
  if (error instanceof PageError) return html`${sentence(words)}`
  const said = words.map((one) => refusalIn(language, one))
  return said.every((one) => one !== null)
    ? html`${sentence(said)}`
    : html`<span lang="en">${sentence(words)}</span>`
}

/**
 * Returns the message and status of a refusal of these kinds, for display next to the input. Throws any other
 * error again.
 */
export function refusalOf<K extends RefusalKind>(
  t: PageLocale,
  error: unknown,
  ...kinds: readonly K[]
): { problem: Markup; status: (typeof REFUSAL_STATUS)[K] } {
  const kind = error instanceof CoreError ? kinds.find((one) => one === error.kind) : undefined
  if (!(error instanceof CoreError) || kind === undefined) throw error
  return { problem: saidBy(t, error), status: REFUSAL_STATUS[kind] }
}

/** Returns the messages of an error. An invalid input has one for each part. */
function wordsOf({ detail }: CoreError): string[] {
  if (typeof detail === 'string') return [detail]
  return [...new Set(detail.map(({ msg }) => msg.replace(/^Value error, /, '')))]
}

function sentence(all: readonly string[]): string {
  const text = all.join('; ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
