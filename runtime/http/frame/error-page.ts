/** Shows an error as a page. Its message comes from the core, in English: another language says it where it knows it. */
import type { Context } from 'hono'
import { html } from 'hono/html'
import { CoreError, type RefusalKind } from '../../contract/errors/problem.ts'
import type { Log } from '../../observe/log.ts'
import { refusalIn } from '../../words/refusals.ts'
import type { Env } from '../edge/env.ts'
import { REFUSAL_STATUS, refusalHeaders, statusOfRefusal } from '../edge/statuses.ts'
import { tellRefusal } from '../edge/tell-refusal.ts'
import { outageOf, toCoreError } from '../edge/to-core-error.ts'
import { type Form, readForm, refuseForeign } from './form.ts'
import type { Markup } from './layout.ts'
import { ownPath } from './own-path.ts'
import { type Tongue, tongueFor } from './tongue.ts'

/** What a page of an error is told. */
export type ErrorSaid = {
  title: string
  text: Markup
  path: string
  /** The form that it came of, where the page that has it cannot be shown with it again. */
  form: Form | null
  /** Whether that form has files, which no page can give back. */
  hasFiles: boolean
  /** The address that may answer in a moment; null where the same would be said again. */
  again: string | null
}

/** Makes the handler of everything that a page throws. */
export const createErrorPage =
  (log: Log, page: (t: Tongue, said: ErrorSaid) => Markup) =>
  async (thrown: Error, c: Context<Env>): Promise<Response> => {
    const requestId = c.get('requestId')
    const error = toCoreError(thrown, requestId)
    const status = statusOfRefusal(error)
    tellRefusal(log, error, { requestId, path: c.req.path })
    for (const [name, value] of Object.entries(refusalHeaders(error))) c.header(name, value)
    const t = tongueFor(c)
    const title = t.w.titles[status] ?? t.w.went_wrong
    const outage = outageOf(thrown)
    const text = outage === null ? saidBy(t, error) : html`${t.w.outages[outage]}`
    // What may work in a moment is asked or sent again, so what was typed must still be there.
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

/** The form of a request, read now where nothing has read it yet; null for what is none, and of another page. */
async function sentForm(c: Context<Env>): Promise<Form | null> {
  const read = c.get('form')
  if (read) return read
  try {
    refuseForeign(c)
    return await readForm(c)
  } catch {
    // The error that is told came first.
    return null
  }
}

/** What a page refuses by itself: its words are of the catalogue, in the language of the page. */
export class PageError extends CoreError {}

/** A refusal of one field of a form, by the field's name. */
export const fieldError = (name: string, words: string): PageError =>
  new PageError('invalid', [{ loc: [name], msg: words, type: 'value_error' }])

/** The problems of an error one by one, in the words of `saidBy`. */
export const saidApart = (t: Tongue, error: CoreError): Markup[] =>
  wordsOf(error).map((words) => wordsSaid(t, error, [words]))

/** The words of an error within a page: in its language where they are known in it, else marked as English. */
export const saidBy = (t: Tongue, error: CoreError): Markup => wordsSaid(t, error, wordsOf(error))

function wordsSaid({ language }: Tongue, error: CoreError, words: readonly string[]): Markup {
  if (error instanceof PageError) return html`${sentence(words)}`
  const said = words.map((one) => refusalIn(language, one))
  return said.every((one) => one !== null)
    ? html`${sentence(said)}`
    : html`<span lang="en">${sentence(words)}</span>`
}

/** What a page tells of a refusal of these kinds, beside what was filled in; anything else is thrown again. */
export function refusalOf<K extends RefusalKind>(
  t: Tongue,
  error: unknown,
  ...kinds: readonly K[]
): { problem: Markup; status: (typeof REFUSAL_STATUS)[K] } {
  const kind = error instanceof CoreError ? kinds.find((one) => one === error.kind) : undefined
  if (!(error instanceof CoreError) || kind === undefined) throw error
  return { problem: saidBy(t, error), status: REFUSAL_STATUS[kind] }
}

/** The words of an error: of what does not fit, what is wrong with each part. */
function wordsOf({ detail }: CoreError): string[] {
  if (typeof detail === 'string') return [detail]
  return [...new Set(detail.map(({ msg }) => msg.replace(/^Value error, /, '')))]
}

function sentence(all: readonly string[]): string {
  const text = all.join('; ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
