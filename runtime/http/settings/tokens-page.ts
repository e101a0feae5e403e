/** The API tokens page: the one that was just made, a form for another, and the list. */
import { html } from 'hono/html'
import type { OwnToken } from '../../core/sign-in/own-tokens.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import { layout, TOKENS_PATH, type Visitor } from './layout.ts'
import { MAX_DESCRIPTION, MAX_NAME, type Problems, type Values } from './token-form.ts'

export type TokensPage = {
  visitor: Visitor
  /** Whether the session may only look. */
  readOnly: boolean
  /** The token that the session was begun with. */
  ownTokenId: string | null
  tokens: readonly OwnToken[]
  /** Of all tokens, those that are not listed included. */
  total: number
  /** The token that this very answer made; never shown again. */
  made: { name: string; token: string } | null
  notice: { text: string; kind: 'good' | 'bad' } | null
  values: Values
  problems: Problems
  /** Makes a form that is sent twice known. */
  formId: string
  now: Date
}

export function tokensPage(page: TokensPage): Markup {
  const { visitor, readOnly, made, notice, problems } = page
  const failed = Object.keys(problems).length > 0
  return layout({
    title: failed ? 'Error: API tokens' : 'API tokens',
    visitor,
    content: html`<h1>API tokens</h1>
<p class="lead">A program that sends one of your tokens, as <code>authorization: Bearer lsk_…</code>, acts as you, with the roles that you have at that moment.</p>
${made && madeBox(made)}
${notice && html`<p class="box ${notice.kind}" role="${notice.kind === 'bad' ? 'alert' : 'status'}" tabindex="-1" autofocus>${notice.text}</p>`}
${failed && summary(problems)}
${
  readOnly
    ? html`<p class="box">You signed in with a token that may only read: you can look at your tokens. To make or revoke one, sign in with a link or another token.</p>`
    : createForm(page)
}
${list(page)}`,
  })
}

const madeBox = ({ name, token }: { name: string; token: string }): Markup => html`
<section class="box good" aria-labelledby="made">
<h2 id="made">“${name}” is ready</h2>
<p id="made-help">Copy the token now and keep it safe: it is not shown again.</p>
<label for="new-token">Your new token</label>
<div class="copy">
<input id="new-token" class="code" value="${token}" readonly autofocus autocomplete="off" spellcheck="false" aria-describedby="made-help">
<button id="copy" type="button" hidden>Copy</button>
</div>
<p id="copied" class="note" role="status"></p>
</section>`

const LABELS = {
  name: 'Name',
  description: 'Description',
  expires: 'Last day',
  readOnly: 'Read only',
} as const satisfies Record<keyof Values, string>

const summary = (problems: Problems): Markup => html`
<div class="box bad" role="alert" tabindex="-1" autofocus>
<h2>No token was made</h2>
<ul>${Object.entries(problems).map(
  ([name, text]) => html`<li><a href="#${name}">${LABELS[name as keyof Values]}: ${text}</a></li>`,
)}</ul>
</div>`

/** Attributes and message of a field, so that the problem is read out with it. */
const state = (problems: Problems, name: keyof Values) => ({
  invalid: problems[name] === undefined ? 'false' : 'true',
  described: problems[name] === undefined ? `${name}-help` : `${name}-problem ${name}-help`,
  message: problems[name] && html`<p id="${name}-problem" class="problem">${problems[name]}</p>`,
})

function createForm({ visitor, values, problems, formId, now }: TokensPage): Markup {
  const name = state(problems, 'name')
  const description = state(problems, 'description')
  const expires = state(problems, 'expires')
  return html`<section aria-labelledby="create">
<h2 id="create">New token</h2>
<form class="create" method="post" action="${TOKENS_PATH}">
${proofField(visitor.proof)}
<input type="hidden" name="form_id" value="${formId}">
<div>
<label for="name">${LABELS.name}</label>
${name.message}
<input id="name" name="name" value="${values.name}" maxlength="${MAX_NAME}" required autocomplete="off" aria-invalid="${name.invalid}" aria-describedby="${name.described}">
<p id="name-help" class="note">What will use it, such as “nightly report”.</p>
</div>
<div>
<label for="description">${LABELS.description} <span class="optional">optional</span></label>
${description.message}
<textarea id="description" name="description" maxlength="${MAX_DESCRIPTION}" rows="2" aria-invalid="${description.invalid}" aria-describedby="${description.described}">
${values.description}</textarea>
<p id="description-help" class="note">Where it is kept, who looks after it.</p>
</div>
<div>
<label for="expires">${LABELS.expires} <span class="optional">optional</span></label>
${expires.message}
<input id="expires" name="expires" type="date" value="${values.expires}" min="${now.toISOString().slice(0, 10)}" aria-invalid="${expires.invalid}" aria-describedby="${expires.described}">
<p id="expires-help" class="note">It works to the end of that day (UTC). Empty: until you revoke it.</p>
</div>
<div class="tick">
<input id="readOnly" name="read_only" value="yes" type="checkbox"${values.readOnly ? html` checked` : ''} aria-describedby="readOnly-help">
<label for="readOnly">${LABELS.readOnly}</label>
<p id="readOnly-help" class="note">It can look at everything that you can, and change nothing.</p>
</div>
<button>Create token</button>
</form>
</section>`
}

function list(page: TokensPage): Markup {
  const { tokens, total } = page
  if (tokens.length === 0) {
    return html`<section aria-labelledby="yours">
<h2 id="yours">Your tokens</h2>
<p class="note">You have none yet.</p>
</section>`
  }
  return html`<div class="scroll" role="region" aria-labelledby="yours" tabindex="0">
<table>
<caption id="yours">Your tokens</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Token</th><th scope="col">Access</th><th scope="col">Created</th><th scope="col">Last used</th><th scope="col">Expires</th><th scope="col">State</th></tr></thead>
<tbody>${tokens.map((token) => row(token, page))}</tbody>
</table>
</div>
${total > tokens.length && html`<p class="note">${total - tokens.length} older ones, revoked or expired, are not shown.</p>`}`
}

function row(token: OwnToken, page: TokensPage): Markup {
  const ended = token.revokedAt !== null || isPast(token.expiresAt, page.now)
  return html`<tr class="${ended ? 'ended' : ''}">
<th scope="row">${token.name}${token.id === page.ownTokenId && html` <span class="tag">you are signed in with it</span>`}${token.description !== '' && html`<span class="description">${token.description}</span>`}</th>
<td><code>${token.prefix}…</code></td>
<td>${token.readOnly ? 'read' : 'read and write'}</td>
<td>${moment(token.createdAt)}</td>
<td>${token.lastUsedAt ? moment(token.lastUsedAt) : 'never'}</td>
<td>${token.expiresAt ? moment(token.expiresAt) : 'never'}</td>
<td>${stateOf(token, page)}</td>
</tr>`
}

function stateOf(token: OwnToken, { now, readOnly, visitor }: TokensPage): Markup {
  if (token.revokedAt) return html`Revoked ${moment(token.revokedAt)}`
  if (isPast(token.expiresAt, now)) return html`Expired`
  if (readOnly) return html`Works`
  return html`<details class="revoke">
<summary>Revoke<span class="unseen"> ${token.name}</span></summary>
<form method="post" action="${TOKENS_PATH}/${token.id}/revoke">
${proofField(visitor.proof)}
<p class="note">What uses it is refused from then on. This cannot be undone.</p>
<button class="danger">Revoke for good<span class="unseen">: ${token.name}</span></button>
</form>
</details>`
}

const isPast = (moment: Date | null, now: Date): boolean =>
  moment !== null && moment.getTime() <= now.getTime()

const moment = (at: Date): Markup => {
  const [day = '', time = ''] = at.toISOString().split('T')
  return html`<time datetime="${at.toISOString()}">${day} <span class="clock">${time.slice(0, 5)} UTC</span></time>`
}
