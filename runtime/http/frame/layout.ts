/** The frame of all pages: head, top bar, account, the message of the last action. */
import { html, raw } from 'hono/html'
import { assetAt } from './assets.ts'
import { PROOF } from './form.ts'
import { icon, sign } from './icons.ts'
import type { PageLocale } from './locale.ts'
import { THEMES } from './look.ts'
import { type Place, SIDE } from './side.ts'
import { initials } from './words.ts'

export type Markup = ReturnType<typeof html>

/** Areas of the top bar, and the keys of their texts. */
export const AREAS = {
  access: { path: '/access', words: 'my_access' },
  inbox: { path: '/inbox', words: 'inbox' },
  console: { path: '/console', words: 'console' },
} as const
type Area = keyof typeof AREAS

/** A signed-in person, as shown on a page. */
export type Visitor = {
  name: string
  email: string
  roles: readonly string[]
  /** Proof for the forms of the session. */
  proof: string
  /** Number of open tasks of the person. */
  waiting: number
  /** Language and formats of pages for the person. */
  t: PageLocale
  /** Places of the console that the person may open. */
  places: readonly Place[]
}

type Page = {
  t: PageLocale
  title: string
  /** Null if nobody is signed in, or if it is not known. */
  visitor: Visitor | null
  area?: Area
  /** Place in the side of the console, for console pages. */
  place?: Place
  content: Markup
}

/** Headers of a page. It may show itself, its style and its script, and send forms to this host. */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

export const proofField = (proof: string): Markup =>
  html`<input type="hidden" name="${PROOF}" value="${proof}">`

/**
 * Characters that reverse the order of the text after them. Keyway writes none, so they come from a name or
 * another text.
 */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g

/** A link whose text consists of spaces or invisible characters. It could neither be clicked nor read out. */
const WORDLESS = /(<a\b[^>]*>)[\s\p{Cf}\u115f\u1160\u2800\u3164]*(<\/a>)/gu

const straight = (page: Awaited<Markup>): Markup =>
  raw(String(page).replace(TURNING, '').replace(WORDLESS, '$1–$2'))

export function layout(page: Page): Markup {
  const made = whole(page)
  return made instanceof Promise ? made.then(straight) : straight(made)
}

function whole({ t, title, visitor, area, place, content }: Page): Markup {
  const theme = THEMES[t.look.theme]
  return html`<!doctype html>
<html lang="${t.language}"${theme === null ? '' : html` data-theme="${theme}"`}${t.look.keys ? '' : html` data-keys="off"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Keyway</title>
<link rel="icon" href="${assetAt('keyway.svg')}">
<link rel="stylesheet" href="${assetAt('keyway.css')}">
<script src="${assetAt('keyway.js')}" defer></script>
</head>
<body>
<a class="skip" href="#main">${t.w.skip}</a>
${visitor && topBar(t, visitor, area ?? null)}
${place && visitor && html`<div class="frame">${side(t, visitor, place)}`}
<main id="main" tabindex="-1">
${content}
</main>
${place && visitor && html`</div>`}
</body>
</html>
`
}

export const brand = (): Markup =>
  html`<a class="brand" href="/" aria-label="Keyway">${sign()}<span>Keyway</span></a>`

const topBar = (
  { w }: PageLocale,
  visitor: Visitor,
  area: Area | null,
): Markup => html`<header class="top">
${brand()}
<nav class="areas" aria-label="${w.areas}">
${Object.entries(AREAS)
  .filter(([name]) => name !== 'console' || visitor.places.length > 0)
  .map(
    ([name, { path, words }]) =>
      html`<a href="${path}"${name === area ? html` aria-current="true"` : ''}>${w[words]}${name === 'inbox' && visitor.waiting > 0 ? waiting(w.tasks_waiting, visitor.waiting) : ''}</a>`,
  )}
</nav>
<form class="find" role="search" action="${AREAS.access.path}#catalogue">
<label class="unseen" for="find">${w.search_apps}</label>
${icon('search')}<input id="find" data-key="/" name="q" type="search" placeholder="${w.search_apps}" autocomplete="off" maxlength="200"><kbd aria-hidden="true">/</kbd>
</form>
<details class="menu">
<summary><span class="avatar busy" aria-hidden="true">${initials(visitor.name)}</span><span class="unseen">${w.account_of(visitor.name)}</span></summary>
<div>
<p><strong class="wrap">${visitor.name}</strong><span class="sub wrap">${visitor.email}</span>${visitor.roles.length > 0 ? html`<span class="sub">${w.roles(visitor.roles.join(', '))}</span>` : ''}</p>
<a href="/settings/personal">${w.personal_title}</a>
<a href="/settings/my-data">${w.my_data}</a>
<a href="/settings/delegates">${w.delegates_title}</a>
<a href="/settings/api-tokens">${w.api_tokens}</a>
<a href="/docs">${w.documentation}</a>
<form method="post" action="/sign-out">${proofField(visitor.proof)}<button>${w.sign_out}</button></form>
<form method="post" action="/sign-out/everywhere">${proofField(visitor.proof)}<button>${w.sign_out_everywhere}</button></form>
</div>
</details>
</header>`

const side = ({ w }: PageLocale, { places }: Visitor, place: Place): Markup => {
  const groups = Map.groupBy(places, (name) => SIDE[name].group)
  return html`<nav class="side" aria-label="${w.console}">
${[...groups].map(
  ([group, names]) => html`${group === null ? '' : html`<h2>${w[group]}</h2>`}
<ul>${names.map((name) => html`<li><a href="${SIDE[name].path}"${name === place ? html` aria-current="page"` : ''}>${icon(SIDE[name].icon)}${w[SIDE[name].words]}</a></li>`)}</ul>`,
)}
</nav>`
}

const waiting = (words: string, count: number): Markup =>
  html` <span class="count hot"><span class="unseen">${words}</span>${count > 99 ? '99+' : count}</span>`

/** Renders a page with one card, for a visitor who is not signed in. */
export const door = (t: PageLocale, id: string, title: string, content: Markup): Markup =>
  layout({
    ...{ t, title, visitor: null },
    content: html`<div class="door">
${brand()}
<section class="card" aria-labelledby="${id}"><div class="in stack">
<h1 id="${id}">${title}</h1>
${content}
</div></section>
</div>`,
  })

/** Renders a page with one message and a link back. `again` is an address to try again. */
export const messagePage = (
  t: PageLocale,
  title: string,
  text: Markup | string,
  again: string | null = null,
): Markup =>
  door(
    t,
    'h-said',
    title,
    html`<p>${text}</p>
<p class="row">${again !== null && html`<a class="btn main" href="${again}">${t.w.try_again}</a>`}<a class="btn" href="/">${t.w.to_the_start}</a></p>`,
  )
