/** The page of a console list with one search text, sorted by its first column. */
import { html } from 'hono/html'
import type { Markup } from '../frame/layout.ts'
import { type Place, SIDE } from '../frame/side.ts'
import { type Pages, pagesNav } from '../pages/parts.ts'
import { answerPage, type Column, filter, listed, nothingIn, sortOf } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

type ListPage<T> = {
  place: Place
  words: Record<'title' | 'lead' | 'none' | 'noneText' | 'noneFound' | 'noneFoundText', string>
  /** The search: its name and value in the address, and its label. */
  search: { name: string; value: string; words: string }
  /** Name of the first column's order in the address, and the requested order. */
  sort: { key: string; asked: string }
  columns: readonly [first: string, ...others: Column[]]
  found: Pages & { items: readonly T[] }
  cells(one: T): (Markup | string | number)[]
  actions?: Markup | string
}

export async function listPage<T>(visit: ConsoleVisit, page: ListPage<T>): Promise<Response> {
  const { t } = visit
  const { place, words, search, sort, found, actions = '' } = page
  const { path } = SIDE[place]
  const query = search.value === '' ? {} : { [search.name]: search.value }
  const to = (more: Record<string, string>) =>
    `${path}?${new URLSearchParams({ ...query, ...more })}`
  const [first, ...others] = page.columns
  const order = sortOf(sort.key, sort.asked, (asked) => to({ sort: asked }))
  const at = (number: number) => to({ sort: sort.asked, page: String(number) })
  return answerPage(visit, {
    ...{ place, isPlace: true },
    ...{ title: words.title, lead: words.lead, actions },
    content: html`${filter(path, words.title, { ...search, kept: { sort: sort.asked } }, t)}
${listed(
  { id: 'list', title: words.title, count: found.total },
  [{ words: first, sort: order }, ...others],
  found.items.map((one) => page.cells(one)),
  nothingIn(words, search.value),
  t,
  pagesNav(t, found, words.title, at),
)}`,
  })
}
