/** The sign-in page: with a link of the operator's, or with an API token. */
import { html } from 'hono/html'
import { icon } from '../frame/icons.ts'
import { brand, layout, type Markup, proofField } from '../frame/layout.ts'
import { SIGN_IN_PATH } from './layout.ts'

export type SignInProblem = { field: 'code' | 'token' | null; text: string }

export type SignInPage = {
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

export function signInPage({ proof, problem, next, providers }: SignInPage): Markup {
  const hidden = html`${proofField(proof)}${next !== null && html`<input type="hidden" name="next" value="${next}">`}`
  return layout({
    title: problem ? 'Error: sign in' : 'Sign in',
    visitor: null,
    content: html`<div class="door">
${brand()}
<h1>Sign in</h1>
${problem && failed(problem)}
${providers.length > 0 && byProvider(providers, next)}
<section class="card" aria-labelledby="by-link"><div class="in stack">
<h2 id="by-link">With a link</h2>
<p class="help" id="code-help">Your operator makes one with <code>npx keyway login-link</code>. It works once, for ten minutes.</p>
<form class="stack" method="post" action="${SIGN_IN_PATH}">
${hidden}
<div class="note good" id="code-ready" role="status" hidden>${icon('check')}<div>Your code is filled in; it is used when you press the button.</div></div>
<div class="field"><label for="code">Code</label>
<input id="code" name="code" class="mono" autocomplete="off" autocapitalize="off" spellcheck="false" required aria-invalid="${invalid(problem, 'code')}" aria-describedby="${described(problem, 'code')}code-help"></div>
<button class="btn${providers.length > 0 ? '' : ' main'}" id="use-code">Sign in with the code</button>
</form>
</div></section>
<section class="card" aria-labelledby="by-token"><div class="in stack">
<h2 id="by-token">With an API token</h2>
<p class="help" id="token-help">It begins with <code>lsk_</code>. With one that may only read, you can look and change nothing.</p>
<form class="stack" method="post" action="${SIGN_IN_PATH}">
${hidden}
<div class="field"><label for="token">API token</label>
<input id="token" name="token" type="password" class="mono" autocomplete="off" required aria-invalid="${invalid(problem, 'token')}" aria-describedby="${described(problem, 'token')}token-help"></div>
<button class="btn">Sign in with the token</button>
</form>
</div></section>
<p class="small soft">Documentation is at <a href="/docs">/docs</a>.</p>
</div>`,
  })
}

const byProvider = (providers: SignInPage['providers'], next: string | null): Markup => html`
<section class="card" aria-labelledby="by-provider"><div class="in stack">
<h2 id="by-provider">With your company’s sign-in</h2>
${providers.map(
  ({ id, name }) =>
    html`<a class="btn main" href="/sign-in/${id}${next === null ? '' : `?${new URLSearchParams({ next })}`}">Continue with ${name}</a>`,
)}
</div></section>
<p class="or">or</p>`

const failed = ({ field, text }: SignInProblem): Markup => html`
<div class="note bad" role="alert" tabindex="-1" autofocus>${icon('alert')}<div>
<strong>You are not signed in</strong><br>
<span class="small" id="problem">${field ? html`<a href="#${field}">${text}</a>` : text}</span>
</div></div>`
