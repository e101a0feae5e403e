/** Sign-in with a link of the operator or with an API token: the page and its form. */
import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { CoreError } from '../../contract/errors/problem.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import {
  endSession,
  findSession,
  signInByCode,
  signInByToken,
} from '../../core/sign-in/sessions.ts'
import type { Db } from '../../database/database.ts'
import type { PlainWords } from '../../words/page-words.ts'
import { createRateLimit } from '../core/rate-limit.ts'
import type { CoreDeps } from '../core/routes.ts'
import { networkOf } from '../edge/client-address.ts'
import type { Env } from '../edge/env.ts'
import { away } from '../edge/to-core-error.ts'
import { ensureVisitor, keepSession, sessionOf, visitorOf } from '../frame/cookies.ts'
import { isProven, proofOf, readForm, refuseForeign } from '../frame/form.ts'
import { icon } from '../frame/icons.ts'
import { AREAS, brand, layout, type Markup, proofField } from '../frame/layout.ts'
import { localeFor, type PageLocale } from '../frame/locale.ts'
import { ownPath } from '../frame/own-path.ts'
import { SIGN_IN_PATH } from './layout.ts'

/** A problem: the field, and the key of the text. */
type SignInProblem = { field: 'code' | 'token' | null; text: PlainWords }

const PROBLEMS = {
  form: { field: null, text: 'earlier_visit' },
  nothing: { field: 'code', text: 'nothing_entered' },
  code: { field: 'code', text: 'wrong_code' },
  token: { field: 'token', text: 'wrong_token' },
} as const satisfies Record<string, SignInProblem>

export function signInRoutes({ db: reach, hasher, clientAddress, signIn }: CoreDeps): Hono<Env> {
  const routes = new Hono<Env>()
  const rate = createRateLimit(CALLER_LIMITS.sign_in_tries)

  const { providers } = signIn

  const show = (
    c: Context<Env>,
    problem: SignInProblem | null,
    status: 200 | 403 | 422,
    next: string | null,
  ) =>
    c.html(
      signInPage({
        t: localeFor(c),
        proof: proofOf(hasher, ensureVisitor(c)),
        problem,
        next,
        providers,
      }),
      status,
    )

  /** Returns the first page of a person who requested none. */
  async function homeOf(db: Db, secret: string): Promise<string> {
    const session = await findSession(db, hasher, secret)
    const isOperator = session?.actor.permissions.has('operator') ?? false
    return isOperator ? AREAS.console.path : AREAS.access.path
  }

  routes.get('/sign-in', (c) => show(c, null, 200, ownPath(c.req.query('next'))))

  routes.post('/sign-in', async (c) => {
    refuseForeign(c)
    const form = await readForm(c)
    const next = ownPath(form.get('next'))
    const visitor = visitorOf(c)
    if (visitor === null || !isProven(hasher, visitor, form))
      return show(c, PROBLEMS.form, 403, next)
    const code = form.get('code')?.trim() ?? ''
    const token = form.get('token')?.trim() ?? ''
    if (code === '' && token === '') return show(c, PROBLEMS.nothing, 422, next)
    const db = reach()
    if (!db) throw away()
    // Only requests that check a secret count as tries. Requests refused earlier must not lock others out.
    const { allowed, headers } = rate.count(networkOf(clientAddress(c)), Date.now())
    if (!allowed) {
      const { 'retry-after': retryAfter = '60' } = headers
      throw new CoreError('too_many_requests', `Too many attempts; wait ${retryAfter} seconds`, {
        retryAfterSeconds: Number(retryAfter),
      })
    }
    const secret = await (code === ''
      ? signInByToken(db, hasher, token)
      : signInByCode(db, hasher, code))
    if (secret === null) return show(c, code === '' ? PROBLEMS.token : PROBLEMS.code, 403, next)
    const former = sessionOf(c)
    if (former !== null) await endSession(db, hasher, former)
    keepSession(c, secret)
    return c.redirect(next ?? (await homeOf(db, secret)), 303)
  })
  return routes
}

type SignInPage = {
  t: PageLocale
  proof: string
  problem: SignInProblem | null
  /** The requested page, or null. */
  next: string | null
  providers: readonly { id: string; name: string }[]
}

const described = (problem: SignInProblem | null, field: 'code' | 'token'): string =>
  problem?.field === field ? 'problem ' : ''

const invalid = (problem: SignInProblem | null, field: 'code' | 'token'): string =>
  problem?.field === field ? 'true' : 'false'

function signInPage({ t, proof, problem, next, providers }: SignInPage): Markup {
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
  { w }: PageLocale,
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

const failed = ({ w }: PageLocale, { field, text }: SignInProblem): Markup => html`
<div class="note bad" role="alert" tabindex="-1" autofocus>${icon('alert')}<div>
<strong>${w.not_signed_in}</strong><br>
<span class="small" id="problem">${field ? html`<a href="#${field}">${w[text]}</a>` : w[text]}</span>
</div></div>`
