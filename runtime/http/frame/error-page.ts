/** Shows an error as a page. Its message comes from the core, so it is English, unless a page has said it. */
import type { Context } from 'hono'
import { html } from 'hono/html'
import { CoreError } from '../../contract/errors/problem.ts'
import type { Log } from '../../observe/log.ts'
import type { Env } from '../edge/env.ts'
import { refusalHeaders, statusOfRefusal } from '../edge/statuses.ts'
import { tellRefusal } from '../edge/tell-refusal.ts'
import { toCoreError } from '../edge/to-core-error.ts'
import { type Form, readForm, refuseForeign } from './form.ts'
import type { Markup } from './layout.ts'
import { type Tongue, tongueFor } from './tongue.ts'

/** A page of an error. `form`: the one that it came of, where the page that has it cannot be shown with it again. */
type Page = (
  t: Tongue,
  said: { title: string; text: Markup; path: string; form: Form | null },
) => Markup

/** Makes the handler of everything that a page throws. */
export const createErrorPage =
  (log: Log, page: Page) =>
  async (thrown: Error, c: Context<Env>): Promise<Response> => {
    const requestId = c.get('requestId')
    const error = toCoreError(thrown, requestId)
    const status = statusOfRefusal(error)
    tellRefusal(log, error, { requestId, path: c.req.path })
    for (const [name, value] of Object.entries(refusalHeaders(error))) c.header(name, value)
    const t = tongueFor(c)
    const title = t.w.titles[status] ?? t.w.went_wrong
    // What may work in a moment is sent again, so what was typed must still be there.
    const form = c.req.method === 'POST' && status >= 429 ? await sentForm(c) : null
    return c.html(page(t, { title, text: saidBy(error), path: c.req.path, form }), status)
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

/** The words of an error within a page of any language. */
export const saidBy = (error: CoreError): Markup =>
  error instanceof PageError
    ? html`${wordsOf(error)}`
    : html`<span lang="en">${wordsOf(error)}</span>`

/** The words of an error: of what does not fit, what is wrong with each part. */
export function wordsOf({ detail }: CoreError): string {
  if (typeof detail === 'string') return sentence(detail)
  const words = detail.map(({ msg }) => msg.replace(/^Value error, /, ''))
  return sentence([...new Set(words)].join('; '))
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
