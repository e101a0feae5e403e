/** Parts that several pages share. */
import { html } from 'hono/html'
import { type Icon, icon } from '../frame/icons.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import type { BadgeKind } from './states.ts'

const isOne = (text: Markup | string | readonly Markup[]): text is Markup | string =>
  !Array.isArray(text)

/** Renders a note. Several texts are shown as a list. */
export const note = (
  kind: BadgeKind,
  name: Icon,
  title: string,
  text: Markup | string | readonly Markup[] = '',
  role: 'note' | 'alert' | 'status' = 'note',
): Markup =>
  html`<div class="note ${kind}" role="${role}"${role === 'alert' ? html` tabindex="-1" autofocus` : ''}>${icon(name)}<div class="wrap"><strong>${title}</strong>${text === '' ? '' : isOne(text) ? html`<br><span class="small">${text}</span>` : html`<ul class="small">${text.map((one) => html`<li>${one}</li>`)}</ul>`}</div></div>`

/** Length of an e-mail address, in characters, from which a narrow column would break it. */
const LONG_ADDRESS = 14

/** Renders a text whose e-mail addresses do not break in tables on a narrow screen. */
export const whole = (text: string): Markup =>
  html`${text.split(/(\s+)/).map((word) => (word.length >= LONG_ADDRESS && word.includes('@') ? html`<span class="mail">${word}</span>` : word))}`

/** Renders an empty list or search: its purpose, and one thing to do. */
export const empty = (
  name: Icon,
  title: string,
  text: Markup | string,
  level: 'h2' | 'h3' = 'h3',
): Markup =>
  html`<div class="empty">${icon(name)}${level === 'h2' ? html`<h2>${title}</h2>` : html`<h3>${title}</h3>`}<p>${text}</p></div>`

export type Pages = { page: number; pages: number; total: number }

/** Renders links to the pages of a list. `of` names the items; `at` returns the address of a page. */
export function pagesNav(
  { w }: PageLocale,
  { page, pages, total }: Pages,
  of: string,
  at: (page: number) => string,
) {
  if (pages <= 1) return html``
  const way = (to: number, words: string, rel: string) =>
    to < 1 || to > pages
      ? html`<span class="btn less" aria-disabled="true">${words}</span>`
      : html`<a class="btn less" rel="${rel}" href="${at(to)}">${words}</a>`
  return html`<div class="pages"><span>${w.page_of(page, pages, total)}</span>
<nav aria-label="${w.pages_of(of)}">${way(page - 1, w.previous, 'prev')}${way(page + 1, w.next, 'next')}</nav></div>`
}

type Ask = {
  id: string
  title: string
  text: string
  action: string
  proof: string
  button: string
  keep: string
  /** A field for a reason, if the question has one. */
  field?: Markup
}

/** Renders a question before something is removed. Its link is `<a href="#id" data-dialog>`. */
export const ask = ({ id, title, text, action, proof, button, keep, field }: Ask): Markup =>
  html`<dialog id="${id}" aria-labelledby="${id}-title">
<form method="post" action="${action}">
${proofField(proof)}
<h2 class="wrap" id="${id}-title">${title}</h2>
<p>${text}</p>
${field ?? ''}
<div class="row"><a class="btn" href="#main" data-close>${keep}</a><button class="btn danger">${button}</button></div>
</form></dialog>`
