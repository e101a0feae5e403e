/** What all settings pages have: head, header, and the page that only says something. */
import { html } from 'hono/html'
import { type Markup, proofField } from '../frame/layout.ts'

export type Visitor = {
  email: string
  roles: readonly string[]
  /** Proof for the forms of the session. */
  proof: string
}

export const TOKENS_PATH = '/settings/api-tokens'
export const SIGN_IN_PATH = '/settings/sign-in'
export const SIGN_OUT_PATH = '/settings/sign-out'

export type Page = {
  title: string
  /** Null for one who is not signed in, or not known to be. */
  visitor: Visitor | null
  content: Markup
}

export function layout({ title, visitor, content }: Page): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Keyway</title>
<link rel="stylesheet" href="/settings/style.css">
<script src="/settings/script.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<p class="brand">Keyway</p>
${visitor && header(visitor)}
</header>
<main id="content">
${content}
</main>
</body>
</html>
`
}

const header = ({ email, roles, proof }: Visitor): Markup => html`<nav aria-label="Settings">
<a href="/access">My access</a>
<a href="${TOKENS_PATH}" aria-current="page">API tokens</a>
</nav>
<p class="who">Signed in as <strong>${email}</strong>${roles.length > 0 ? ` (${roles.join(', ')})` : ''}</p>
<form method="post" action="${SIGN_OUT_PATH}">${proofField(proof)}<button class="quiet">Sign out</button></form>`

/** A page that says what happened, and leads back. */
export const messagePage = (title: string, text: string): Markup =>
  layout({
    title,
    visitor: null,
    content: html`<h1>${title}</h1>
<p class="lead">${text}</p>
<p><a href="${TOKENS_PATH}">Back to the API tokens</a></p>`,
  })
