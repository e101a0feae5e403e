/** The top of every documentation page: the search, and links to the parts. */
import { html } from 'hono/html'

/** Longest search text, in characters. */
export const MAX_QUERY = 100

/** Renders the top of a page, with the current search text. */
export const topMarkup = (query = ''): ReturnType<typeof html> => html`<header class="top">
<p class="brand"><a href="/docs">Keyway</a></p>
<form role="search" action="/docs/search">
<input type="search" name="q" aria-label="Search the documentation" placeholder="Search" maxlength="${MAX_QUERY}" value="${query}">
<button>Search</button>
</form>
<nav aria-label="Interface"><a href="/docs">Documentation</a> <a href="/docs/api">API reference</a></nav>
</header>`

/** Style of the top. */
export const TOP_STYLE = `
.top { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.2rem; padding: .6rem clamp(1rem, 3vw, 2rem); background: var(--panel); border-bottom: 1px solid var(--line) }
.top p { margin: 0 }
.top .brand a { font-size: 1.15rem; font-weight: 650; color: var(--text); text-decoration: none }
.top form { display: flex; gap: .4rem; flex: 1 1 14rem; max-width: 30rem }
.top input { flex: 1; min-width: 0; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--soft); border-radius: 6px; padding: .3rem .6rem }
.top button { font: inherit; color: var(--text); background: transparent; border: 1px solid var(--soft); border-radius: 6px; padding: .3rem .8rem; cursor: pointer }
.top nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem }
.top nav a { padding: .3rem 0 }
:is(input, button, pre, .scroll):focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
@media print { .top { display: none } }
`
