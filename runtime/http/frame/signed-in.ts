/**
 * Sessions of the pages, and the forms that a session sends. Order of checks of a form: the site that sent
 * it, the session, the rate limit, the form itself, its proof.
 */
import type { Context } from 'hono'
import { CoreError, forbidden } from '../../contract/errors/problem.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import type { RequestContext } from '../../core/kernel/context/context.ts'
import type { Principal } from '../../core/kernel/identity/principal.ts'
import { findSession, type Session } from '../../core/sign-in/sessions.ts'
import type { Db } from '../../database/database.ts'
import { createRateLimit, enforcePageRate } from '../core/rate-limit.ts'
import type { CoreDeps } from '../core/routes.ts'
import type { Env } from '../edge/env.ts'
import { away } from '../edge/to-core-error.ts'
import { sessionOf } from './cookies.ts'
import { type Form, isProven, keptForm, readForm, refuseForeign } from './form.ts'

export type SignedIn = { db: Db; secret: string; session: Session }

/** A form of a signed-in person. `proven` means that a page of the same session sent it. */
type Sent = SignedIn & { form: Form; proven: boolean }

/** Reads a form that is not text alone. */
type ReadForm = (c: Context<Env>, who: SignedIn | null) => Promise<Form>

export type Visits = {
  /** Returns the session, or null if nobody is signed in. @throws CoreError `unavailable` */
  signedIn(c: Context<Env>): Promise<SignedIn | null>
  /**
   * Reads a form with texts that the database can store, proven or not. `who` is null without a session.
   *
   * @throws CoreError `forbidden`, `bad_request`, `unsupported_media_type`, `too_many_requests`,
   * `unavailable`; RuntimeError `body_too_large`
   */
  received(
    c: Context<Env>,
    read?: ReadForm,
  ): Promise<{ who: SignedIn | null; form: Form; proven: boolean }>
  /**
   * Reads a proven form unchanged. Returns null without a session.
   *
   * @throws CoreError `forbidden`, `bad_request`, `unsupported_media_type`, `too_many_requests`,
   * `unavailable`; RuntimeError `body_too_large`
   */
  sent(c: Context<Env>): Promise<Sent | null>
}

export function createVisits(deps: CoreDeps): Visits {
  const { hasher } = deps
  const rate = createRateLimit({ ...CALLER_LIMITS.settings_forms, most: deps.requestsPerMinute })

  async function signedIn(c: Context<Env>): Promise<SignedIn | null> {
    const secret = sessionOf(c)
    if (secret === null) return null
    const db = deps.db()
    if (!db) throw away()
    const session = provided(deps, await findSession(db, hasher, secret))
    return session && { db, secret, session }
  }

  async function taken(c: Context<Env>, read: ReadForm = readForm) {
    refuseForeign(c)
    const who = await signedIn(c)
    if (who) enforcePageRate(c, rate, who.session.actor.userId, 'Too many requests; wait a minute')
    const form = await read(c, who)
    c.set('form', form)
    return { who, form, proven: who !== null && isProven(hasher, who.secret, form) }
  }

  async function received(c: Context<Env>, read?: ReadForm) {
    const { who, form, proven } = await taken(c, read)
    return { who, form: keptForm(form), proven }
  }

  async function sent(c: Context<Env>): Promise<Sent | null> {
    const { who, form, proven } = await taken(c)
    if (!who) return null
    if (!proven) throw forbidden('The form is from an earlier visit; open the page again')
    return { ...who, form, proven }
  }
  return { signedIn, received, sent }
}

/**
 * Checks that the person is still signed in, for work that outlives a request. It does not count as a use of
 * the session, or an open page would keep the session alive for ever.
 *
 * @throws CoreError `unauthenticated`
 */
export async function stillSignedIn(deps: CoreDeps, who: SignedIn): Promise<SignedIn> {
  const found = await findSession(who.db, deps.hasher, who.secret, { isUse: false })
  const session = provided(deps, found)
  if (!session) throw new CoreError('unauthenticated', 'The session has ended')
  return { ...who, session }
}

/** Returns the session, or null if its identity provider has been removed from the settings. */
function provided({ signIn }: CoreDeps, session: Session | null): Session | null {
  if (session === null || session.provider === null) return session
  return signIn.providers.some(({ id }) => id === session.provider) ? session : null
}

/** Returns a signed-in person as a caller of the core. */
export const signedInPrincipal = ({ session }: SignedIn): Principal => ({
  ...session.actor,
  tokenId: session.tokenId ?? '',
  // Requests that present the token record its use.
  usedLately: true,
})

/** Returns the context of a request to the core. */
export const contextOf = (c: Context<Env>, { parts }: CoreDeps): RequestContext => {
  const requestId = c.get('requestId')
  return {
    ...parts,
    requestId,
    cause: { kind: 'request', id: requestId },
    signal: c.req.raw.signal,
  }
}
