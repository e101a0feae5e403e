/** The API tokens page: the new token, a form for another one, and the list. */
import { html } from 'hono/html'
import { entriesOf } from '../../contract/schema/keys.ts'
import type { OwnToken } from '../../core/sign-in/own-tokens.ts'
import { icon } from '../frame/icons.ts'
import { layout, type Markup, proofField, type Visitor } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { TOKENS_PATH } from './layout.ts'
import { MAX_TOKEN_DESCRIPTION, MAX_TOKEN_NAME, type Problems, type Values } from './token-form.ts'

export type TokensPage = {
  t: PageLocale
  visitor: Visitor
  /** Whether the session is read-only. */
  readOnly: boolean
  /** Id of the token that started the session. */
  ownTokenId: string | null
  tokens: readonly OwnToken[]
  /** Number of all tokens, including those that are not listed. */
  total: number
  /** The token that this request created. It is never shown again. */
  made: { name: string; token: string } | null
  notice: { text: string; kind: 'good' | 'bad' } | null
  values: Values
  problems: Problems
  /** Identifies a form that is sent twice. */
  formId: string
  now: Date
}

export function tokensPage(page: TokensPage): Markup {
  const { t, visitor, readOnly, made, notice, problems } = page
  const { w } = t
  const failed = Object.keys(problems).length > 0
  return layout({
    t,
    title: failed ? w.tokens_error : w.api_tokens,
    visitor,
    content: html`<div class="page">
<div class="head"><div><h1>${w.api_tokens}</h1>
<p>${w.tokens_lead(html`<code>authorization: Bearer lsk_…</code>`)}</p></div></div>
${made && madeBox(t, made)}
${notice && html`<div class="note ${notice.kind}" role="${notice.kind === 'bad' ? 'alert' : 'status'}" tabindex="-1" autofocus>${icon(notice.kind === 'bad' ? 'alert' : 'check')}<div class="wrap">${notice.text}</div></div>`}
${failed && summary(t, problems)}
${
  readOnly
    ? html`<div class="note">${icon('info')}<div>${w.tokens_read_only}</div></div>`
    : createForm(page)
}
${list(page)}
</div>`,
  })
}

const madeBox = (
  { w }: PageLocale,
  { name, token }: { name: string; token: string },
): Markup => html`
<section class="card" aria-labelledby="made"><div class="in stack">
<h2 class="wrap" id="made">${w.token_ready(name)}</h2>
<p id="made-help">${w.token_ready_text}</p>
<div class="field"><label for="new-token">${w.your_new_token}</label>
<div class="row keep">
<input id="new-token" class="mono" value="${token}" readonly autofocus autocomplete="off" spellcheck="false" aria-describedby="made-help">
<button class="btn" id="copy" type="button" data-done="${w.copied}" data-failed="${w.copy_by_hand}" hidden>${w.copy}</button>
</div></div>
<p id="copied" class="small" role="status"></p>
</div></section>`

const summary = ({ w }: PageLocale, problems: Problems): Markup => html`
<div class="note bad" role="alert" tabindex="-1" autofocus>${icon('alert')}<div>
<strong>${w.no_token_made}</strong>
<ul>${entriesOf(problems).map(
  ([name, text]) => html`<li><a href="#${name}">${w.token_fields[name]}: ${text}</a></li>`,
)}</ul>
</div></div>`

/** Returns attributes and message of a field, so that screen readers read the problem with it. */
const state = (problems: Problems, name: keyof Values) => ({
  invalid: problems[name] === undefined ? 'false' : 'true',
  described: problems[name] === undefined ? `${name}-help` : `${name}-problem ${name}-help`,
  message:
    problems[name] &&
    html`<p id="${name}-problem" class="error problem">${icon('alert')}${problems[name]}</p>`,
})

function createForm({ t, visitor, values, problems, formId, now }: TokensPage): Markup {
  const { w } = t
  const labels = w.token_fields
  const name = state(problems, 'name')
  const description = state(problems, 'description')
  const expires = state(problems, 'expires')
  return html`<section class="card" aria-labelledby="create">
<header><h2 id="create">${w.new_token}</h2></header>
<form class="create in stack" method="post" action="${TOKENS_PATH}">
${proofField(visitor.proof)}
<input type="hidden" name="form_id" value="${formId}">
<div class="field">
<label for="name">${labels.name}</label>
<p id="name-help" class="help">${w.token_name_help}</p>
<input id="name" name="name" value="${values.name}" maxlength="${MAX_TOKEN_NAME}" required autocomplete="off" aria-invalid="${name.invalid}" aria-describedby="${name.described}">
${name.message}
</div>
<div class="field">
<label for="description">${labels.description} <span class="soft">${w.optional}</span></label>
<p id="description-help" class="help">${w.token_description_help}</p>
<textarea id="description" name="description" maxlength="${MAX_TOKEN_DESCRIPTION}" rows="2" aria-invalid="${description.invalid}" aria-describedby="${description.described}">
${values.description}</textarea>
${description.message}
</div>
<div class="field">
<label for="expires">${labels.expires} <span class="soft">${w.optional}</span></label>
<p id="expires-help" class="help">${w.token_expires_help}</p>
<input id="expires" name="expires" type="date" value="${values.expires}" min="${now.toISOString().slice(0, 10)}" aria-invalid="${expires.invalid}" aria-describedby="${expires.described}">
${expires.message}
</div>
<label for="readOnly" class="choice"><input id="readOnly" name="read_only" value="yes" type="checkbox"${values.readOnly ? html` checked` : ''} aria-describedby="readOnly-help"><span>${labels.readOnly}<span class="sub" id="readOnly-help">${w.token_read_only_help}</span></span></label>
<div><button class="btn main">${w.create_token}</button></div>
</form>
</section>`
}

/** Column styles, from the first. */
const LOOKS = ['', 'c3', 'c3', 'c2', 'c3', 'c3', '']

function list(page: TokensPage): Markup {
  const { t, tokens, total } = page
  const { w } = t
  const head = html`<header><h2 id="yours">${w.your_tokens}</h2><span class="count">${total}</span></header>`
  if (tokens.length === 0)
    return html`<section class="card" aria-labelledby="yours">${head}<p class="in soft">${w.no_tokens}</p></section>`
  return html`<section class="card" aria-labelledby="yours">${head}
<div class="scroll" role="region" aria-label="${w.table_of(w.your_tokens)}" tabindex="0">
<table>
<thead><tr>${w.token_columns.map((words, at) => html`<th scope="col" class="${LOOKS[at] ?? ''}">${words}</th>`)}</tr></thead>
<tbody>${tokens.map((token) => row(token, page))}</tbody>
</table>
</div>
${total > tokens.length && html`<footer>${w.tokens_not_shown(total - tokens.length)}</footer>`}</section>`
}

function row(token: OwnToken, page: TokensPage): Markup {
  const { w, moment } = page.t
  const at = (when: Date | null) => (when ? moment(when, page.now) : w.never)
  const ended = token.revokedAt !== null || isPast(token.expiresAt, page.now)
  return html`<tr class="${ended ? 'soft' : ''}">
<th scope="row" class="wrap">${token.name}${token.id === page.ownTokenId && html` <span class="badge good">${icon('check')}${w.signed_in_with_it}</span>`}${token.description !== '' && html`<span class="sub wrap">${token.description}</span>`}</th>
<td class="c3"><code>${token.prefix}…</code></td>
<td class="c3">${token.readOnly ? w.token_reads : w.token_writes}</td>
<td class="c2">${at(token.createdAt)}</td>
<td class="c3">${at(token.lastUsedAt)}</td>
<td class="c3">${at(token.expiresAt)}</td>
<td>${stateOf(token, page)}</td>
</tr>`
}

function stateOf(token: OwnToken, { t, now, readOnly, visitor }: TokensPage): Markup | string {
  const { w } = t
  if (token.revokedAt) return w.revoked_at(t.moment(token.revokedAt, now))
  if (isPast(token.expiresAt, now)) return w.expired
  if (readOnly) return w.token_works
  return html`<details class="more">
<summary>${w.revoke}<span class="unseen"> ${token.name}</span></summary>
<form method="post" action="${TOKENS_PATH}/${token.id}/revoke">
${proofField(visitor.proof)}
<p class="small">${w.revoke_text}</p>
<button class="btn danger less">${w.revoke_for_good}<span class="unseen">: ${token.name}</span></button>
</form>
</details>`
}

const isPast = (moment: Date | null, now: Date): boolean =>
  moment !== null && moment.getTime() <= now.getTime()
