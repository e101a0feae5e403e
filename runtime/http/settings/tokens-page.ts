/** The API tokens page: the one that was just made, a form for another, and the list. */
import { html } from 'hono/html'
import type { OwnToken } from '../../core/sign-in/own-tokens.ts'
import { icon } from '../frame/icons.ts'
import { layout, type Markup, proofField, type Visitor } from '../frame/layout.ts'
import { TOKENS_PATH } from './layout.ts'
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
    content: html`<div class="page">
<div class="head"><div><h1>API tokens</h1>
<p>A program that sends one of your tokens, as <code>authorization: Bearer lsk_…</code>, acts as you, with the roles that you have at that moment.</p></div></div>
${made && madeBox(made)}
${notice && html`<div class="note ${notice.kind}" role="${notice.kind === 'bad' ? 'alert' : 'status'}" tabindex="-1" autofocus>${icon(notice.kind === 'bad' ? 'alert' : 'check')}<div class="wrap">${notice.text}</div></div>`}
${failed && summary(problems)}
${
  readOnly
    ? html`<div class="note">${icon('info')}<div>You signed in with a token that may only read: you can look at your tokens. To make or revoke one, sign in with a link or another token.</div></div>`
    : createForm(page)
}
${list(page)}
</div>`,
  })
}

const madeBox = ({ name, token }: { name: string; token: string }): Markup => html`
<section class="card" aria-labelledby="made"><div class="in stack">
<h2 class="wrap" id="made">“${name}” is ready</h2>
<p id="made-help">Copy the token now and keep it safe: it is not shown again.</p>
<div class="field"><label for="new-token">Your new token</label>
<div class="row keep">
<input id="new-token" class="mono" value="${token}" readonly autofocus autocomplete="off" spellcheck="false" aria-describedby="made-help">
<button class="btn" id="copy" type="button" hidden>Copy</button>
</div></div>
<p id="copied" class="small" role="status"></p>
</div></section>`

const LABELS = {
  name: 'Name',
  description: 'Description',
  expires: 'Last day',
  readOnly: 'Read only',
} as const satisfies Record<keyof Values, string>

const summary = (problems: Problems): Markup => html`
<div class="note bad" role="alert" tabindex="-1" autofocus>${icon('alert')}<div>
<strong>No token was made</strong>
<ul>${Object.entries(problems).map(
  ([name, text]) => html`<li><a href="#${name}">${LABELS[name as keyof Values]}: ${text}</a></li>`,
)}</ul>
</div></div>`

/** Attributes and message of a field, so that the problem is read out with it. */
const state = (problems: Problems, name: keyof Values) => ({
  invalid: problems[name] === undefined ? 'false' : 'true',
  described: problems[name] === undefined ? `${name}-help` : `${name}-problem ${name}-help`,
  message:
    problems[name] &&
    html`<p id="${name}-problem" class="error problem">${icon('alert')}${problems[name]}</p>`,
})

function createForm({ visitor, values, problems, formId, now }: TokensPage): Markup {
  const name = state(problems, 'name')
  const description = state(problems, 'description')
  const expires = state(problems, 'expires')
  return html`<section class="card" aria-labelledby="create">
<header><h2 id="create">New token</h2></header>
<form class="create in stack" method="post" action="${TOKENS_PATH}">
${proofField(visitor.proof)}
<input type="hidden" name="form_id" value="${formId}">
<div class="field">
<label for="name">${LABELS.name}</label>
<p id="name-help" class="help">What will use it, such as “nightly report”.</p>
<input id="name" name="name" value="${values.name}" maxlength="${MAX_NAME}" required autocomplete="off" aria-invalid="${name.invalid}" aria-describedby="${name.described}">
${name.message}
</div>
<div class="field">
<label for="description">${LABELS.description} <span class="soft">(optional)</span></label>
<p id="description-help" class="help">Where it is kept, who looks after it.</p>
<textarea id="description" name="description" maxlength="${MAX_DESCRIPTION}" rows="2" aria-invalid="${description.invalid}" aria-describedby="${description.described}">
${values.description}</textarea>
${description.message}
</div>
<div class="field">
<label for="expires">${LABELS.expires} <span class="soft">(optional)</span></label>
<p id="expires-help" class="help">It works to the end of that day (UTC). Empty: until you revoke it.</p>
<input id="expires" name="expires" type="date" value="${values.expires}" min="${now.toISOString().slice(0, 10)}" aria-invalid="${expires.invalid}" aria-describedby="${expires.described}">
${expires.message}
</div>
<label for="readOnly" class="choice"><input id="readOnly" name="read_only" value="yes" type="checkbox"${values.readOnly ? html` checked` : ''} aria-describedby="readOnly-help"><span>${LABELS.readOnly}<span class="sub" id="readOnly-help">It can look at everything that you can, and change nothing.</span></span></label>
<div><button class="btn main">Create token</button></div>
</form>
</section>`
}

function list(page: TokensPage): Markup {
  const { tokens, total } = page
  const head = html`<header><h2 id="yours">Your tokens</h2><span class="count">${total}</span></header>`
  if (tokens.length === 0)
    return html`<section class="card" aria-labelledby="yours">${head}<p class="in soft">You have none yet.</p></section>`
  return html`<section class="card" aria-labelledby="yours">${head}
<div class="scroll" role="region" aria-labelledby="yours" tabindex="0">
<table>
<thead><tr><th scope="col">Name</th><th scope="col" class="c3">Token</th><th scope="col" class="c3">Access</th><th scope="col" class="c2">Created</th><th scope="col" class="c3">Last used</th><th scope="col" class="c3">Expires</th><th scope="col">State</th></tr></thead>
<tbody>${tokens.map((token) => row(token, page))}</tbody>
</table>
</div>
${total > tokens.length && html`<footer>${total - tokens.length} older ones, revoked or expired, are not shown.</footer>`}</section>`
}

function row(token: OwnToken, page: TokensPage): Markup {
  const ended = token.revokedAt !== null || isPast(token.expiresAt, page.now)
  return html`<tr class="${ended ? 'soft' : ''}">
<th scope="row" class="wrap">${token.name}${token.id === page.ownTokenId && html` <span class="badge good">${icon('check')}you are signed in with it</span>`}${token.description !== '' && html`<span class="sub wrap">${token.description}</span>`}</th>
<td class="c3"><code>${token.prefix}…</code></td>
<td class="c3">${token.readOnly ? 'read' : 'read and write'}</td>
<td class="c2">${moment(token.createdAt)}</td>
<td class="c3">${token.lastUsedAt ? moment(token.lastUsedAt) : 'never'}</td>
<td class="c3">${token.expiresAt ? moment(token.expiresAt) : 'never'}</td>
<td>${stateOf(token, page)}</td>
</tr>`
}

function stateOf(token: OwnToken, { now, readOnly, visitor }: TokensPage): Markup {
  if (token.revokedAt) return html`Revoked ${moment(token.revokedAt)}`
  if (isPast(token.expiresAt, now)) return html`Expired`
  if (readOnly) return html`Works`
  return html`<details class="more">
<summary>Revoke<span class="unseen"> ${token.name}</span></summary>
<form method="post" action="${TOKENS_PATH}/${token.id}/revoke">
${proofField(visitor.proof)}
<p class="small">What uses it is refused from then on. This cannot be undone.</p>
<button class="btn danger less">Revoke for good<span class="unseen">: ${token.name}</span></button>
</form>
</details>`
}

const isPast = (moment: Date | null, now: Date): boolean =>
  moment !== null && moment.getTime() <= now.getTime()

const moment = (at: Date): Markup => {
  const [day = '', time = ''] = at.toISOString().split('T')
  return html`<time datetime="${at.toISOString()}">${day} <span class="clock">${time.slice(0, 5)} UTC</span></time>`
}
