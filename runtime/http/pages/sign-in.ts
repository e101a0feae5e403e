/** Sign-in by an identity provider: the way there, the way back, and the pages for failures. */
import type { Context } from 'hono'
import { html } from 'hono/html'
import { CoreError } from '../../contract/errors/problem.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import type {
  KnownProvider,
  NotSignedIn,
  SignInState,
} from '../../contract/models/sign-in-provider.ts'
import { type NotLetIn, signInByProvider } from '../../core/sign-in/by-provider.ts'
import { endSession } from '../../core/sign-in/sessions.ts'
import type { Sealer } from '../../secrets/seal.ts'
import { createRateLimit, enforcePageRate } from '../core/rate-limit.ts'
import type { CoreDeps } from '../core/routes.ts'
import { networkOf } from '../edge/client-address.ts'
import type { Env } from '../edge/env.ts'
import { away } from '../edge/to-core-error.ts'
import {
  BEGUN_SECONDS,
  hostOrigin,
  keepBegun,
  keepSession,
  sessionOf,
  takeBegun,
} from '../frame/cookies.ts'
import { type Markup, messagePage } from '../frame/layout.ts'
import { localeFor } from '../frame/locale.ts'
import { ownPath } from '../frame/own-path.ts'

type Why = NotSignedIn['why'] | NotLetIn['why'] | 'stale'

/** STATUSES: reason of a failed sign-in -> status. The texts for it are in `SIGN_IN_WORDS`. */
const STATUSES: Record<Why, 400 | 403 | 503> = {
  denied: 403,
  away: 503,
  wrong: 403,
  stale: 400,
  no_address: 403,
  unverified: 403,
  unknown: 403,
  suspended: 403,
}

/** State that the browser keeps while a person is at the provider. */
type Kept = SignInState & { provider: string; next: string | null; atMs: number }

const BOUND = Buffer.from('sign-in')

const sealed = (vault: Sealer, kept: Kept): string =>
  vault.seal(JSON.stringify(kept), BOUND).toString('base64url')

/**
 * Returns the state kept for a provider, or null if it was not sealed here, is too old, or is for another
 * provider.
 */
function opened(vault: Sealer, text: string | null, provider: string): Kept | null {
  if (text === null) return null
  try {
    // Only this host's secrets can have sealed it.
    const kept: Kept = JSON.parse(vault.open(Buffer.from(text, 'base64url'), BOUND))
    const isYoung = Date.now() - kept.atMs < BEGUN_SECONDS * 1000
    return isYoung && kept.provider === provider ? kept : null
  } catch {
    return null
  }
}

const addressOf = (c: Context<Env>, { id }: KnownProvider): string =>
  `${hostOrigin(c)}/sign-in/${id}/callback`

export function signInBy(deps: CoreDeps) {
  const { hasher, log, signIn } = deps
  const { providers, identity, vault } = signIn
  const rate = createRateLimit(CALLER_LIMITS.sign_in_tries)

  /** Returns the provider of the address. @throws CoreError `not_found` */
  function providerOf(c: Context<Env>): KnownProvider {
    const provider = providers.find(({ id }) => id === c.req.param('provider'))
    if (!provider) throw new CoreError('not_found', 'This way to sign in does not exist')
    return provider
  }

  function tell(
    c: Context<Env>,
    { id, name }: KnownProvider,
    why: Why,
    { email = null, problem = '' }: { email?: string | null; problem?: string } = {},
  ): Response | Promise<Response> {
    const requestId = c.get('requestId')
    log.warn({ provider: id, why, problem, requestId }, 'a person was not signed in by a provider')
    const t = localeFor(c)
    const { title, text } = t.w.not_in[why]
    return c.html(messagePage(t, title, text({ name, email, requestId })), STATUSES[why])
  }

  async function begin(c: Context<Env>): Promise<Response> {
    const provider = providerOf(c)
    const begun = await identity.begin(provider, addressOf(c, provider))
    if (!begun.ok) return tell(c, provider, begun.why, begun)
    const { url, ...rest } = begun.value
    const next = ownPath(c.req.query('next'))
    keepBegun(c, sealed(vault, { ...rest, provider: provider.id, next, atMs: Date.now() }))
    return c.redirect(url, 302)
  }

  async function callback(c: Context<Env>): Promise<Response> {
    const provider = providerOf(c)
    const kept = opened(vault, takeBegun(c), provider.id)
    if (!kept) return tell(c, provider, 'stale')
    const network = networkOf(deps.clientAddress(c))
    enforcePageRate(c, rate, network, 'Too many attempts; wait a minute')
    const db = deps.db()
    if (!db) throw away()
    const params = new URL(c.req.url).searchParams
    const redirectUri = addressOf(c, provider)
    const said = await identity.finish(provider, { ...kept, params, redirectUri })
    if (!said.ok) return tell(c, provider, said.why, said)
    const letIn = await signInByProvider(db, hasher, provider, said.value)
    if ('why' in letIn) return tell(c, provider, letIn.why, { email: letIn.email })
    if (letIn.lacksGroups) {
      const about = { provider: provider.id, claim: provider.groups_claim }
      log.warn({ ...about, requestId: c.get('requestId') }, 'a provider sent no groups of a person')
    }
    const former = sessionOf(c)
    if (former !== null) await endSession(db, hasher, former)
    keepSession(c, letIn.secret)
    return c.redirect(kept.next ?? '/', 303)
  }
  return { begin, callback }
}

/**
 * Renders the page after sign-out with a link that also ends the session at the provider. A form may not lead
 * to another host, so it is a link. Returns null if there is no such address.
 */
export async function signedOutPage(
  c: Context<Env>,
  { signIn }: CoreDeps,
  id: string | null,
): Promise<Markup | null> {
  const provider = signIn.providers.find((one) => one.id === id)
  if (!provider) return null
  const end = await signIn.identity.end(provider, `${hostOrigin(c)}/`)
  if (!end.ok || end.value === null) return null
  const { value } = end
  const t = localeFor(c)
  const text = t.w.signed_out_text(provider.name, (words) => html`<a href="${value}">${words}</a>`)
  return messagePage(t, t.w.signed_out, text)
}
