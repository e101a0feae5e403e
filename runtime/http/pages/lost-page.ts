/**
 * Pages for a form that could not be accepted, because its session has ended or something is unavailable. The
 * input is shown, so that it is not lost.
 */
import type { Context } from 'hono'
import { html } from 'hono/html'
import type { Env } from '../edge/env.ts'
import type { ErrorSaid } from '../frame/error-page.ts'
import { type Form, PROOF } from '../frame/form.ts'
import { door, type Markup, messagePage } from '../frame/layout.ts'
import { localeFor, type PageLocale } from '../frame/locale.ts'
import { ownPath } from '../frame/own-path.ts'
import type { SignedIn, Visits } from '../frame/signed-in.ts'

/** Free-text fields, and the keys of their labels. */
const WRITTEN = { why: 'why_you_need_it', reason: 'reason', comment: 'comment' } as const

/** Fields that a page wrote itself, and those that may contain a secret, which is never shown. */
const NOT_SHOWN =
  /^(?:app_id|permission|digest|seen|sure|form_id|next|code|expected_generation)$|head|secret|token|password|credential|auth|key/
/** Maximum number of other fields that are shown, and of characters of each. */
const MAX_FIELDS = 40
const MAX_TEXT = 4000

/** Formats the other fields of a form, one per line, by name. Their labels are on the original page. */
const othersOf = (form: Form): string =>
  [...form]
    .filter(
      ([name, text]) =>
        name !== PROOF &&
        !Object.hasOwn(WRITTEN, name) &&
        text.trim() !== '' &&
        !NOT_SHOWN.test(name),
    )
    .slice(0, MAX_FIELDS)
    .map(([name, text]) => `${name}: ${text.trim().slice(0, MAX_TEXT)}`)
    .join('\n')

/** Returns the path of a form's page, which is the form's path without its action. */
const pageOf = (path: string): string =>
  path.replace(/\/(?:withdraw|give-back|remind|download|decide|comment|reassign)$/, '')

/** Returns the address of the page of a form. */
function backTo(path: string, form: Form): string {
  const app = form.get('app_id')
  const query = app ? `?${new URLSearchParams({ app_id: app })}` : ''
  return ownPath(`${pageOf(path)}${query}`) ?? '/'
}

type Typed = { name: string; label: string; text: string }

function typedInto({ w }: PageLocale, form: Form): Typed[] {
  const texts = Object.entries(WRITTEN).flatMap(([name, label]) => {
    const text = form.get(name)?.trim()
    return text ? [{ name, label: w[label], text }] : []
  })
  const others = othersOf(form)
  return others === ''
    ? texts
    : [...texts, { name: 'fields', label: w.what_you_entered, text: others }]
}

type Lost = {
  title: string
  lead: Markup | string
  typed: readonly Typed[]
  to: string
  button: string
}

const page = (t: PageLocale, { title, lead, typed, to, button }: Lost): Markup =>
  door(
    t,
    'h-lost',
    title,
    html`<p>${lead}</p>
${typed.map(
  ({ name, label, text }) =>
    html`<div class="field"><label for="${name}">${label}</label><textarea id="${name}" rows="5" readonly>
${text}</textarea></div>`,
)}
<p><a class="btn main" href="${to}">${button}</a></p>`,
  )

/**
 * Handles a form if a page of this session sent it. Otherwise answers 403 and shows the input.
 *
 * @throws Error of reading the form, or of `take`
 */
export async function whenProven(
  c: Context<Env>,
  received: ReturnType<Visits['received']>,
  take: (who: SignedIn, form: Form) => Promise<Response>,
): Promise<Response> {
  const { who, form, proven } = await received
  if (who && proven) return take(who, form)
  return c.html(lostPage(localeFor(c), c.req.path, form, who !== null), 403)
}

/**
 * Renders the page for a form without a valid session.
 *
 * @param path Path to which the form was sent.
 * @param isSignedIn Whether a person is signed in now, in another session than the form's.
 */
function lostPage(t: PageLocale, path: string, form: Form, isSignedIn: boolean): Markup {
  const { w } = t
  const back = backTo(path, form)
  const typed = typedInto(t, form)
  return page(t, {
    title: w.nothing_sent,
    lead: html`${isSignedIn ? w.earlier_sign_in : w.no_longer_in} ${typed.length > 0 ? w.copy_first : w.open_page}`,
    typed,
    to: isSignedIn ? back : `/settings/sign-in?${new URLSearchParams({ next: back })}`,
    button: isSignedIn ? w.open_again : w.sign_in,
  })
}

/** Renders an error, with the input of the form that caused it. */
export function errorPage(
  t: PageLocale,
  { title, text, path, form, hasFiles, again }: ErrorSaid,
): Markup {
  const { w } = t
  const typed = form === null ? [] : typedInto(t, form)
  if (!hasFiles && typed.length === 0) return messagePage(t, title, text, again)
  const next = typed.length > 0 ? w.copy_first : w.open_page
  const lead = html`${text} ${next}${hasFiles ? html` ${w.choose_file_again}` : ''}`
  return page(t, { title, lead, typed, to: backTo(path, form ?? new Map()), button: w.open_again })
}
