/** The frame of all documentation pages: head, search, contents, and links to the next pages. */
import { html, raw } from 'hono/html'
import { topMarkup } from '../documents/docs-top.ts'
import { escapeText } from './escape-text.ts'
import type { Rendered } from './markdown.ts'
import { DOCS_PAGES, DOCS_PARTS, type DocsPage, docsAddressOf } from './pages.ts'
import { type Hit, queryWords, SEARCH_LIMITS } from './search.ts'

type Markup = ReturnType<typeof html>

/** Titles of the pages, by their address below /docs. */
export type Titles = ReadonlyMap<string, string>

/** Deepest level of headings in the contents of a page. */
const DEEPEST = 3
/** Number of headings above which the contents list only those of the second level. */
const MAX_NAMED = 24

type Frame = {
  title: string
  titles: Titles
  /** Page that is shown, or null for the search. */
  slug: string | null
  query?: string
  toc?: Markup | ''
  content: Markup
}

/** Renders one page of Markdown. */
export function pageMarkup(
  page: DocsPage,
  { title, html: body, headings }: Rendered,
  titles: Titles,
): Markup {
  const named = headings.filter(({ depth }) => depth > 1 && depth <= DEEPEST)
  const shown = named.length > MAX_NAMED ? named.filter(({ depth }) => depth === 2) : named
  const toc =
    page.slug === '' || shown.length < 2
      ? ''
      : html`<ul>${shown.map(
          ({ id, text, depth }) =>
            html`<li class="${depth === 2 ? 'second' : 'third'}"><a href="#${id}">${text}</a></li>`,
        )}</ul>`
  return frame({
    title,
    titles,
    slug: page.slug,
    toc,
    content: html`<article>
${raw(body)}
</article>
${neighbours(page, titles)}`,
  })
}

/** Renders the results of a search, and a form to search again. */
export function searchMarkup(query: string, hits: readonly Hit[], titles: Titles): Markup {
  const { maxHits, maxQuery } = SEARCH_LIMITS
  const words = queryWords(query)
  const said =
    words.length === 0
      ? 'Enter one or more words.'
      : hits.length === 0
        ? 'Nothing was found. Try fewer or shorter words.'
        : hits.length === maxHits
          ? `The best ${maxHits} results.`
          : `${hits.length} ${hits.length === 1 ? 'result' : 'results'}.`
  return frame({
    title: query.trim() === '' ? 'Search' : `Search: ${query.trim().slice(0, maxQuery)}`,
    titles,
    slug: null,
    query: query.slice(0, maxQuery),
    content: html`<h1>Search</h1>
<p role="status">${said}</p>
<ol class="hits">${hits.map(
      ({ address, page, heading, excerpt }) => html`<li>
<a href="${address}">${heading === '' ? page : heading}</a>
<p class="where">${page}</p>
<p>${marked(excerpt, words)}</p>
</li>`,
    )}</ol>`,
  })
}

/** Renders the page for an unknown address. */
export const missingMarkup = (titles: Titles): Markup =>
  frame({
    title: 'Not found',
    titles,
    slug: null,
    content: html`<h1>Not found</h1>
<p>There is no such page. Search for it above, or begin at <a href="/docs">the first page</a>.</p>`,
  })

function frame({ title, titles, slug, query = '', toc = '', content }: Frame): Markup {
  const contents = html`${DOCS_PARTS.map(
    (part) => html`<h2>${part.title}</h2>
<ul>${part.pages
      .filter(({ isListed }) => isListed)
      .map(
        (one) =>
          html`<li><a href="${docsAddressOf(one)}"${one.slug === slug ? raw(' aria-current="page"') : ''}>${titles.get(one.slug) ?? one.slug}</a></li>`,
      )}</ul>`,
  )}`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Keyway</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${topMarkup(query)}
<div class="layout">
<nav class="pages wide" aria-label="Pages">${contents}</nav>
<details class="pages narrow"><summary>All pages</summary><nav aria-label="Pages">${contents}</nav></details>
<main id="content">
${toc === '' ? '' : html`<details class="toc narrow"><summary>On this page</summary>${toc}</details>`}
${content}
</main>
${toc === '' ? '' : html`<nav class="toc wide" aria-label="On this page"><p>On this page</p>${toc}</nav>`}
</div>
</body>
</html>
`
}

/** Renders links to the previous and the next page in the table of contents. */
function neighbours(page: DocsPage, titles: Titles): Markup | '' {
  const listed = DOCS_PAGES.filter(({ isListed }) => isListed)
  const at = listed.findIndex(({ slug }) => slug === page.slug)
  if (at < 0) return ''
  const link = (one: DocsPage | undefined, rel: 'prev' | 'next', word: string) =>
    one
      ? html`<a class="${rel}" rel="${rel}" href="${docsAddressOf(one)}"><span>${word}</span> ${titles.get(one.slug) ?? one.slug}</a>`
      : ''
  return html`<nav class="neighbours" aria-label="Neighbours">${link(listed[at - 1], 'prev', 'Back')}${link(listed[at + 1], 'next', 'Next')}</nav>`
}

/** Renders text with the given words marked. */
function marked(text: string, words: readonly string[]): Markup {
  const lower = text.toLowerCase()
  const parts: string[] = []
  let done = 0
  while (done < text.length) {
    const next = words
      .map((word) => ({ word, at: lower.indexOf(word, done) }))
      .filter(({ at }) => at >= 0)
      .sort((one, other) => one.at - other.at || other.word.length - one.word.length)[0]
    if (!next) break
    const end = next.at + next.word.length
    parts.push(escapeText(text.slice(done, next.at)))
    parts.push(`<mark>${escapeText(text.slice(next.at, end))}</mark>`)
    done = end
  }
  return html`${raw(parts.join('') + escapeText(text.slice(done)))}`
}
