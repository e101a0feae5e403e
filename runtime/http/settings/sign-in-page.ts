/** The sign-in page: with a link of the operator's, or with an API token. */
import { html } from 'hono/html'
import { layout, type Markup, proofField, SIGN_IN_PATH, TOKENS_PATH } from './layout.ts'

export type SignInProblem = { field: 'code' | 'token' | null; text: string }

const described = (problem: SignInProblem | null, field: 'code' | 'token'): string =>
  problem?.field === field ? 'problem ' : ''

const invalid = (problem: SignInProblem | null, field: 'code' | 'token'): string =>
  problem?.field === field ? 'true' : 'false'

export function signInPage(proof: string, problem: SignInProblem | null): Markup {
  return layout({
    title: problem ? 'Error: sign in' : 'Sign in',
    visitor: null,
    content: html`<h1>Sign in</h1>
<p class="lead">To make API tokens and to revoke them. Signed in already? <a href="${TOKENS_PATH}">Go to your API tokens</a>.</p>
${
  problem &&
  html`<div class="box bad" role="alert" tabindex="-1" autofocus>
<h2>You are not signed in</h2>
<p id="problem">${problem.field ? html`<a href="#${problem.field}">${problem.text}</a>` : problem.text}</p>
</div>`
}
<div class="ways">
<section aria-labelledby="by-link">
<h2 id="by-link">With a link</h2>
<p id="code-help">Run <code>npx keyway login-link</code> where Keyway runs, and open the address that it prints. It works once, for ten minutes.</p>
<form method="post" action="${SIGN_IN_PATH}">
${proofField(proof)}
<p id="code-ready" class="box good" role="status" hidden>Your code is filled in; it is used when you press the button.</p>
<label for="code">Code</label>
<input id="code" name="code" class="code" autocomplete="off" autocapitalize="off" spellcheck="false" required aria-invalid="${invalid(problem, 'code')}" aria-describedby="${described(problem, 'code')}code-help">
<button id="use-code">Sign in with the code</button>
</form>
</section>
<section aria-labelledby="by-token">
<h2 id="by-token">With an API token</h2>
<p id="token-help">It begins with <code>lsk_</code>. With one that may only read, you can look and change nothing.</p>
<form method="post" action="${SIGN_IN_PATH}">
${proofField(proof)}
<label for="token">API token</label>
<input id="token" name="token" type="password" class="code" autocomplete="off" required aria-invalid="${invalid(problem, 'token')}" aria-describedby="${described(problem, 'token')}token-help">
<button>Sign in with the token</button>
</form>
</section>
</div>`,
  })
}
