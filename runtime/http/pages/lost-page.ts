/** A form that could not be taken because its sign-in is over: what was typed into it is not lost. */
import { html } from 'hono/html'
import { type Form, PROOF } from '../frame/form.ts'
import { brand, layout, type Markup } from '../frame/layout.ts'
import { ownPath } from '../frame/own-path.ts'
import type { Tongue } from '../frame/tongue.ts'

/** Fields into which people write, and the keys of what they are called. */
const WRITTEN = { why: 'why_you_need_it', reason: 'reason', comment: 'comment' } as const

/** Fields that a page wrote itself, and those that may hold a secret, which no page repeats. */
const NOT_SHOWN =
  /^(?:app_id|permission|digest|seen|sure|form_id|next|expected_generation)$|head|secret|token|password|credential|auth|key/
/** Most of the other fields that are shown, and of each, in characters. */
const MOST_FIELDS = 40
const MOST_TEXT = 4000

/** The other fields of a form, a line each, by their names: their labels are on the page they came from. */
const othersOf = (form: Form): string =>
  [...form]
    .filter(
      ([name, text]) =>
        name !== PROOF &&
        !Object.hasOwn(WRITTEN, name) &&
        text.trim() !== '' &&
        !NOT_SHOWN.test(name),
    )
    .slice(0, MOST_FIELDS)
    .map(([name, text]) => `${name}: ${text.trim().slice(0, MOST_TEXT)}`)
    .join('\n')

/** Where a form stands: its page is at the address without what the form does. */
const pageOf = (path: string): string =>
  path.replace(/\/(?:withdraw|give-back|remind|download|decide|comment|reassign)$/, '')

/**
 * @param path Where the form was sent.
 * @param isSignedIn Whether a person is signed in now, in another session than the form's.
 */
export function lostPage(t: Tongue, path: string, form: Form, isSignedIn: boolean): Markup {
  const { w } = t
  const query = form.get('app_id')
    ? `?${new URLSearchParams({ app_id: form.get('app_id') ?? '' })}`
    : ''
  const back = ownPath(`${pageOf(path)}${query}`) ?? '/'
  const to = isSignedIn ? back : `/settings/sign-in?${new URLSearchParams({ next: back })}`
  const texts: { name: string; label: string; text: string }[] = Object.entries(WRITTEN).flatMap(
    ([name, label]) => {
      const text = form.get(name)?.trim()
      return text ? [{ name, label: w[label], text }] : []
    },
  )
  const others = othersOf(form)
  if (others !== '') texts.push({ name: 'fields', label: w.what_you_entered, text: others })
  return layout({
    t,
    title: w.nothing_sent,
    visitor: null,
    content: html`<div class="door">
${brand()}
<section class="card" aria-labelledby="h-lost"><div class="in stack">
<h1 id="h-lost">${w.nothing_sent}</h1>
<p>${isSignedIn ? w.earlier_sign_in : w.no_longer_in} ${texts.length > 0 ? w.copy_first : w.open_page}</p>
${texts.map(
  ({ name, label, text }) =>
    html`<div class="field"><label for="${name}">${label}</label><textarea id="${name}" rows="5" readonly>
${text}</textarea></div>`,
)}
<p><a class="btn main" href="${to}">${isSignedIn ? w.open_again : w.sign_in}</a></p>
</div></section>
</div>`,
  })
}
