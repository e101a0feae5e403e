/** Signing in to the settings pages. */
import { type Context, Hono } from 'hono'
import { CoreError } from '../../contract/errors/problem.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import {
  endSession,
  findSession,
  signInByCode,
  signInByToken,
} from '../../core/sign-in/sessions.ts'
import type { Db } from '../../database/database.ts'
import { createRateLimit } from '../core/rate-limit.ts'
import type { CoreDeps } from '../core/routes.ts'
import { networkOf } from '../edge/client-address.ts'
import type { Env } from '../edge/env.ts'
import { away } from '../edge/to-core-error.ts'
import { ensureVisitor, keepSession, sessionOf, visitorOf } from '../frame/cookies.ts'
import { isProven, proofOf, readForm, refuseForeign } from '../frame/form.ts'
import { AREAS } from '../frame/layout.ts'
import { ownPath } from '../frame/own-path.ts'
import { tongueFor } from '../frame/tongue.ts'
import { type SignInProblem, signInPage } from './sign-in-page.ts'

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
        t: tongueFor(c),
        proof: proofOf(hasher, ensureVisitor(c)),
        problem,
        next,
        providers,
      }),
      status,
    )

  /** Where a person begins who wanted no page. */
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
    // What was refused without asking whether a secret is right is no try: it would lock others out.
    const { allowed, headers } = rate.count(networkOf(clientAddress(c)), Date.now())
    if (!allowed) {
      const { 'retry-after': retryAfter = '60' } = headers
      throw new CoreError('too_many_requests', `Too many tries; wait ${retryAfter} seconds`, {
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
