/** The sign-in page: with a link of the operator's, or with an API token. */
import { html } from 'hono/html'
import type { PlainWords } from '../../words/page-words.ts'
import { icon } from '../frame/icons.ts'
import { brand, layout, type Markup, proofField } from '../frame/layout.ts'
import type { Tongue } from '../frame/tongue.ts'
import { SIGN_IN_PATH } from './layout.ts'

/** What is wrong: with which field, and the key of the words. */
export type SignInProblem = { field: 'code' | 'token' | null; text: PlainWords }

type SignInPage = {
  t: Tongue
  proof: string
  problem: SignInProblem | null
  /** The page that a person wanted; null for none. */
  next: string | null
  providers: readonly { id: string; name: string }[]
}

const described = (problem: SignInProblem | null, field: 'code' | 'token'): string =>
  problem?.field === field ? 'problem ' : ''

const invalid = (problem: SignInProblem | null, field: 'code' | 'token'): string =>
  problem?.field === field ? 'true' : 'false'

export function signInPage({ t, proof, problem, next, providers }: SignInPage): Markup {
  const { w } = t
  const hidden = html`${proofField(proof)}${next !== null && html`<input type="hidden" name="next" value="${next}">`}`
  return layout({
    t,
    title: problem ? w.sign_in_error : w.sign_in,
    visitor: null,
    content: html`<div class="door">
${brand()}
<h1>${w.sign_in}</h1>
${problem && failed(t, problem)}
${providers.length > 0 && byProvider(t, providers, next)}
<section class="card" aria-labelledby="by-link"><div class="in stack">
<h2 id="by-link">${w.with_a_link}</h2>
<p class="help" id="code-help">${w.link_help(html`<code>npx keyway login-link</code>`)}</p>
<form class="stack" method="post" action="${SIGN_IN_PATH}">
${hidden}
<div class="note good" id="code-ready" role="status" hidden>${icon('check')}<div>${w.code_ready}</div></div>
<div class="field"><label for="code">${w.code}</label>
<input id="code" name="code" class="mono" autocomplete="off" autocapitalize="off" spellcheck="false" required aria-invalid="${invalid(problem, 'code')}" aria-describedby="${described(problem, 'code')}code-help"></div>
<button class="btn${providers.length > 0 ? '' : ' main'}" id="use-code">${w.sign_in_code}</button>
</form>
</div></section>
<section class="card" aria-labelledby="by-token"><div class="in stack">
<h2 id="by-token">${w.with_a_token}</h2>
<p class="help" id="token-help">${w.token_help(html`<code>lsk_</code>`)}</p>
<form class="stack" method="post" action="${SIGN_IN_PATH}">
${hidden}
<div class="field"><label for="token">${w.api_token}</label>
<input id="token" name="token" type="password" class="mono" autocomplete="off" required aria-invalid="${invalid(problem, 'token')}" aria-describedby="${described(problem, 'token')}token-help"></div>
<button class="btn">${w.sign_in_token}</button>
</form>
</div></section>
<p class="small soft">${w.documentation_at(html`<a href="/docs">/docs</a>`)}</p>
</div>`,
  })
}

const byProvider = (
  { w }: Tongue,
  providers: SignInPage['providers'],
  next: string | null,
): Markup => html`
<section class="card" aria-labelledby="by-provider"><div class="in stack">
<h2 id="by-provider">${w.by_company}</h2>
${providers.map(
  ({ id, name }) =>
    html`<a class="btn main" href="/sign-in/${id}${next === null ? '' : `?${new URLSearchParams({ next })}`}">${w.continue_with(name)}</a>`,
)}
</div></section>
<p class="or">${w.or_else}</p>`

const failed = ({ w }: Tongue, { field, text }: SignInProblem): Markup => html`
<div class="note bad" role="alert" tabindex="-1" autofocus>${icon('alert')}<div>
<strong>${w.not_signed_in}</strong><br>
<span class="small" id="problem">${field ? html`<a href="#${field}">${w[text]}</a>` : w[text]}</span>
</div></div>`
