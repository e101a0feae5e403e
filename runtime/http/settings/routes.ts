/** The settings pages. They are rendered here, use plain forms, and load nothing from other hosts. */

import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { CoreError, forbidden } from '../../contract/errors/problem.ts'
import { createOwnToken, listOwnTokens, revokeOwnToken } from '../../core/sign-in/own-tokens.ts'
import { endSession } from '../../core/sign-in/sessions.ts'
import type { CoreDeps } from '../core/routes.ts'
import type { Env } from '../edge/env.ts'
import { dropSession, sessionOf } from '../frame/cookies.ts'
import { createErrorPage } from '../frame/error-page.ts'
import { PAGE_HEADERS } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { inTime, usualKind } from '../frame/page-deadline.ts'
import { createVisits, type SignedIn } from '../frame/signed-in.ts'
import { errorPage } from '../pages/lost-page.ts'
import { visitOf } from '../pages/visit.ts'
import { SIGN_IN_PATH, TOKENS_PATH } from './layout.ts'
import { signInRoutes } from './sign-in-routes.ts'
import { judgeTokenForm, NOTHING } from './token-form.ts'
import { type TokensPage, tokensPage } from './tokens-page.ts'

/** Creates the routes below /settings. */
export function settingsRoutes(deps: CoreDeps): Hono<Env> {
  const { hasher, log } = deps
  const routes = new Hono<Env>()
  const { signedIn, sent } = createVisits(deps)

  routes.onError(createErrorPage(log, errorPage))
  routes.use(async (c, next) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
    await inTime(c, deps.parts.pace, usualKind(c), next())
  })

  routes.get('/', (c) => c.redirect(TOKENS_PATH, 303))
  routes.route('/', signInRoutes(deps))

  const toSignIn = (c: Context<Env>): Response => {
    if (sessionOf(c) !== null) dropSession(c)
    return c.redirect(SIGN_IN_PATH, 303)
  }

  async function show(
    c: Context<Env>,
    who: SignedIn,
    parts: Partial<TokensPage> = {},
    status: 200 | 409 | 422 = 200,
  ): Promise<Response> {
    const { db, session } = who
    const { actor, tokenId } = session
    const { visitor, t, now } = await visitOf(c, deps, who)
    const { items: tokens, total } = await listOwnTokens(db, actor)
    const page: TokensPage = {
      t,
      visitor: await visitor(),
      readOnly: actor.readOnly,
      ownTokenId: tokenId,
      tokens,
      total,
      made: null,
      notice: noticeOf(t, tokens, c.req.query('revoked')),
      values: NOTHING,
      problems: {},
      formId: randomUUID(),
      now,
      ...parts,
    }
    return c.html(tokensPage(page), status)
  }

  routes.get('/api-tokens', async (c) => {
    const who = await signedIn(c)
    return who ? show(c, who) : toSignIn(c)
  })

  routes.post('/api-tokens', async (c) => {
    const who = await sent(c)
    if (!who) return toSignIn(c)
    const { db, session, form } = who
    // Before the form is checked: it would be refused with any input.
    if (session.actor.readOnly) throw forbidden('You signed in with a read-only token')
    const visit = await visitOf(c, deps, who)
    const judged = judgeTokenForm(form, session.tokenEndsAt, visit)
    if (!judged.ok) return show(c, who, judged, 422)
    const { wish } = judged
    const made = await createOwnToken(db, hasher, session.actor, wish)
    if (made) return show(c, who, { made: { name: wish.name, token: made.token } })
    return show(c, who, { notice: { text: visit.t.w.token_form_twice, kind: 'bad' } }, 409)
  })

  routes.post('/api-tokens/:id/revoke', async (c) => {
    const who = await sent(c)
    if (!who) return toSignIn(c)
    const id = c.req.param('id')
    await revokeOwnToken(who.db, who.session.actor, id)
    return c.redirect(`${TOKENS_PATH}?revoked=${encodeURIComponent(id)}`, 303)
  })

  routes.post('/sign-out', async (c) => {
    const who = await sent(c)
    if (who) await endSession(who.db, hasher, who.secret)
    return toSignIn(c)
  })

  for (const [path, allow] of WRONG_METHODS) {
    routes.all(path, (c) => {
      c.header('allow', allow)
      throw new CoreError('method_not_allowed', `${c.req.method} is not served here`)
    })
  }
  routes.all('*', () => {
    throw new CoreError('not_found', 'There is no such page')
  })
  return routes
}

const WRONG_METHODS = [
  ['/', 'GET'],
  ['/sign-in', 'GET, POST'],
  ['/sign-out', 'POST'],
  ['/api-tokens', 'GET, POST'],
  ['/api-tokens/:id/revoke', 'POST'],
] as const

/**
 * Returns the notice after a revocation. The address names the token. The notice appears only if that token
 * is revoked.
 */
function noticeOf(
  { w }: PageLocale,
  tokens: TokensPage['tokens'],
  revoked: string | undefined,
): TokensPage['notice'] {
  const token = tokens.find(({ id }) => id === revoked)
  return token?.revokedAt ? { text: w.token_revoked(token.name), kind: 'good' } : null
}
