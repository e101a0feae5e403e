/** Parts that pages of the console share. */
import { html } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { type Icon, icon } from '../frame/icons.ts'
import { layout, type Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { type Place, SIDE } from '../frame/side.ts'
import { empty } from '../pages/parts.ts'
import type { BadgeKind } from '../pages/states.ts'
import type { ConsoleVisit } from './visit.ts'

type ConsolePage = {
  place: Place
  /** Heading of the page: its main statement, or its name if there is none. */
  title: string
  /** Content next to the heading. */
  state?: Markup | string
  lead?: Markup | string
  actions?: Markup | string
  /** Pages above this one, below that of the place. */
  crumbs?: readonly { path: string; words: string }[]
  /** Whether this is the page of the place itself. */
  isPlace?: boolean
  content: Markup
  status?: ContentfulStatusCode
}

/** Answers with a page of the console. */
export async function answerPage(visit: ConsoleVisit, page: ConsolePage): Promise<Response> {
  const { t } = visit
  const { place, title, state = '', lead = '', actions = '', content } = page
  const { path, words } = SIDE[place]
  const crumbs = page.isPlace ? [] : [{ path, words: t.w[words] }, ...(page.crumbs ?? [])]
  const flash = visit.flash()
  const markup = layout({
    ...{ t, title, visitor: await visit.visitor(), area: 'console', place },
    content: html`<div class="page" lang="${t.language}">
<div class="head"><div>
${crumbs.length > 0 ? html`<ol class="crumbs">${crumbs.map((one) => html`<li><a href="${one.path}">${one.words}</a></li>`)}</ol>` : ''}
<div class="row"><h1 class="wrap">${title}</h1>${state}</div>
${lead === '' ? '' : html`<p class="wrap">${lead}</p>`}</div>
${actions === '' ? '' : html`<div class="row">${actions}</div>`}</div>
${flash === null ? '' : html`<div lang="${t.language}">${flash}</div>`}
${content}
</div>`,
  })
  return visit.c.html(markup, page.status)
}

type Look = 'num' | 'word' | 'c2' | 'c3' | 'num c2' | 'num c3'

type ColumnSort = { href: string; now: 'ascending' | 'descending' | null }

/**
 * Returns the sort order of a column. If the list already has this order, its link reverses it.
 *
 * @param asked Order in the address: `name`, or `-name` for the opposite one
 * @param first Order in which the column is sorted first; numbers begin with the largest
 */
export function sortOf(
  key: string,
  asked: string,
  at: (sort: string) => string,
  first: 'ascending' | 'descending' = 'ascending',
): ColumnSort {
  const down = `-${key}`
  const now = asked === key ? 'ascending' : asked === down ? 'descending' : null
  const isNextUp = now === null ? first === 'ascending' : now === 'descending'
  return { now, href: at(isNextUp ? key : down) }
}

/** A column: its heading alone or with its style, or all of its parts. */
export type Column = string | readonly [words: string, look: Look] | ColumnParts

/** `unseen` hides the heading of a column of controls. */
type ColumnParts = {
  words: string
  look?: Look
  unseen?: boolean
  /** Present if the list can be sorted by this column. */
  sort?: ColumnSort
  /**
   * Whether the column consists of checkboxes. With the script, its head has one that selects all of them.
   */
  choosesPage?: boolean
  /** Whether its cells are below the name of the row on a phone, where the column is hidden. */
  folds?: true
}

/** Creates columns from headings that are together in the catalogue. */
export const columnsOf = (
  headings: readonly string[],
  looks: readonly (Look | undefined)[] = [],
): ColumnParts[] =>
  headings.map((words, at) => ({ words, ...(looks[at] === undefined ? {} : { look: looks[at] }) }))

const partsOf = (column: Column): ColumnParts =>
  typeof column === 'string'
    ? { words: column }
    : 'length' in column
      ? { words: column[0], look: column[1] }
      : column

/** Cells of a row, one for each column. The first one names the row. */
export type Cells = readonly (Markup | string | number)[]

/** Renders a table that scrolls horizontally by itself. */
export const table = (
  label: string,
  columns: readonly Column[],
  rows: readonly Cells[],
  { w }: PageLocale,
): Markup => {
  const all = columns.map(partsOf)
  return html`<div class="scroll" role="region" aria-label="${w.table_of(label)}" tabindex="0"><table>
<thead><tr>${all.map((one) => headOf(one, w))}</tr></thead>
<tbody>${rows.map((one) => rowOf(all, one))}</tbody></table></div>`
}

function headOf(column: ColumnParts, w: PageLocale['w']): Markup {
  const { words, unseen, choosesPage, sort } = column
  const choice = choosesPage
    ? html`<input type="checkbox" data-choose-page aria-label="${w.choose_page}" hidden>`
    : ''
  const named = unseen ? html`<span class="unseen">${words}</span>` : words
  const name = sort ? html`<a href="${sort.href}">${named}</a>` : named
  return html`<th scope="col" class="${lookOf(column)}"${sort?.now ? html` aria-sort="${sort.now}"` : ''}>${choice}${name}</th>`
}

function rowOf(columns: readonly ColumnParts[], cells: Cells): Markup {
  const named = columns[0]?.choosesPage ? 1 : 0
  const told = cells.map((cell, at) =>
    at === named ? html`${cell}${columns.map((one, of) => foldedOf(one, cells[of] ?? ''))}` : cell,
  )
  const [name = '', ...others] = told
  return html`<tr><th scope="row" class="wrap">${name}</th>${others.map((cell, at) => html`<td class="${lookOf(columns[at + 1])} wrap">${cell}</td>`)}</tr>`
}

const lookOf = (column: ColumnParts | undefined): string =>
  `${column?.look ?? ''}${column?.folds ? ' c3' : ''}`.trim()

/** Renders a cell below the name of its row. Only a number needs the heading of its column. */
const foldedOf = (
  { folds, look, unseen, words }: ColumnParts,
  cell: Cells[number],
): Markup | string =>
  folds && cell !== ''
    ? html`<span class="sub narrow-only">${look === 'num' && !unseen ? html`${words}: ` : ''}${cell}</span>`
    : ''

type Card = {
  id: string
  title: string
  note?: Markup | string
  end?: Markup | string
  count?: number
}

/** Renders a section with a heading. */
export const card = ({ id, title, note = '', end = '', count }: Card, content: Markup): Markup =>
  html`<section class="card" id="${id}" aria-labelledby="h-${id}"><header><h2 id="h-${id}">${title}</h2>${count === undefined ? '' : html`<span class="count">${count}</span>`}${note === '' ? '' : html`<p>${note}</p>`}${end === '' ? '' : html`<span class="end">${end}</span>`}</header>
${content}</section>`

/** Renders a table in a card, or a text if it is empty. */
export const listed = (
  about: Card,
  columns: readonly Column[],
  rows: readonly Cells[],
  nothing: { title: string; text: Markup | string; icon?: Icon },
  t: PageLocale,
  after: Markup | string = '',
): Markup =>
  card(
    about,
    rows.length === 0
      ? empty(nothing.icon ?? 'info', nothing.title, nothing.text)
      : html`${table(about.title, columns, rows, t)}${after}`,
  )

/** Returns the text in place of an empty list. */
export const nothingIn = (
  words: Record<'none' | 'noneText' | 'noneFound' | 'noneFoundText', string>,
  search: string,
) =>
  search === ''
    ? { title: words.none, text: words.noneText }
    : { title: words.noneFound, text: words.noneFoundText, icon: 'search' as const }

type Figure = { name: string; value: string | number; unit?: string; note?: Markup | string }

/** Renders figures, each with a comparison. */
export const figures = (all: readonly Figure[]): Markup =>
  html`<dl class="card stats">${all.map(({ name, value, unit = '', note = '' }) => html`<div class="stat"><dt>${name}</dt><dd><b>${value}</b>${unit === '' ? '' : html`<span class="soft">${unit}</span>`}${note === '' ? '' : html`<span class="small">${note}</span>`}</dd></div>`)}</dl>`

type Fact = readonly [name: string, value: Markup | string | number]

/** Renders facts by name, one below the other. False and absent facts are omitted. */
export const facts = (all: readonly (Fact | false | null | undefined | '')[]): Markup =>
  html`<div class="in"><dl class="kv small">${all.filter((one) => !!one).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></div>`

/** Renders an icon for an event before a name. */
export const mark = (kind: BadgeKind, name: Icon, said: string): Markup =>
  html`<span class="dot ${kind}">${icon(name)}<span class="unseen">${said}</span></span>`

export const tabs = (
  label: string,
  all: readonly { href: string; words: string; count?: number }[],
): Markup =>
  html`<nav class="tabs" aria-label="${label}">${all.map(({ href, words, count }) => html`<a href="${href}">${words}${count === undefined ? '' : html` <span class="count">${count}</span>`}</a>`)}</nav>`

/** Formats a number with thousands separators. */
export const thousands = (value: number, { language }: PageLocale): string =>
  value.toLocaleString(language)

/** Shortens a long text. */
export const brief = (text: string, most = 200): string =>
  text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text

/** Renders a link that looks like a button. */
export const go = (href: string, words: Markup | string, look = ''): Markup =>
  html`<a class="btn ${look}" href="${href}">${words}</a>`

type Field = {
  t: PageLocale
  id: string
  label: string
  help?: string
  value?: string
  type?: string
  most?: number
  /** Smallest and largest accepted number. */
  range?: readonly [least: number, most: number]
  required?: boolean
}

export const field = ({
  t,
  id,
  label,
  help,
  value = '',
  type = 'text',
  most = 1000,
  range,
  required,
}: Field): Markup =>
  html`<div class="field"><label for="${id}">${label}${required ? '' : html` <span class="soft">${t.w.optional}</span>`}</label>${help ? html`<p class="help" id="${id}-help">${help}</p>` : ''}<input id="${id}" name="${id}" type="${type}" value="${value}" maxlength="${most}"${range ? html` min="${range[0]}" max="${range[1]}"` : ''} autocomplete="off"${help ? html` aria-describedby="${id}-help"` : ''}${required ? html` required` : ''}></div>`

type Choose = {
  id: string
  label: string
  value: string
  all: readonly (readonly [value: string, words: string])[]
  help?: string
  /** Whether a choice is required. */
  required?: boolean
}

/** Renders one option of a list. It is selected if it is the chosen one. */
export const option = (value: string, words: string, chosen: string): Markup =>
  html`<option value="${value}"${value === chosen ? html` selected` : ''}>${words}</option>`

/** Renders a choice of one of several options. */
export const choose = ({ id, label, value, all, help = '', required }: Choose): Markup =>
  html`<div class="field"><label for="${id}">${label}</label>${help === '' ? '' : html`<p class="help" id="${id}-help">${help}</p>`}<select id="${id}" name="${id}"${required ? html` required` : ''}${help === '' ? '' : html` aria-describedby="${id}-help"`}>${all.map(([one, words]) => option(one, words, value))}</select></div>`

type Check = {
  name: string
  value: string
  words: Markup | string
  help?: Markup | string
  isOn?: boolean
}

/** Renders a checkbox. */
export const check = ({ name, value, words, help = '', isOn = false }: Check): Markup =>
  html`<label class="choice"><input type="checkbox" name="${name}" value="${value}"${isOn ? html` checked` : ''}><span>${words}${help === '' ? '' : html`<span class="sub">${help}</span>`}</span></label>`

/** Renders a form that filters the list of the same page. */
export const filter = (
  action: string,
  label: string,
  {
    name,
    words,
    value,
    kept = {},
  }: { name: string; words: string; value: string; kept?: Record<string, string> },
  { console: { parts } }: PageLocale,
): Markup =>
  html`<form class="filter" action="${action}" role="search" aria-label="${label}">
${Object.entries(kept).map(([key, one]) => html`<input type="hidden" name="${key}" value="${one}">`)}
<div class="grow"><label for="f-${name}">${words}</label><input id="f-${name}" type="search" name="${name}" value="${value}" maxlength="200"></div>
<button class="btn">${parts.search}</button>${value === '' ? '' : html`<a class="btn plain" href="${action}">${parts.clear}</a>`}
</form>`
