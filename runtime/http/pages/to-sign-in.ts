/** Redirects to sign-in, and from there back to the requested page. */
import type { Context } from 'hono'
import type { Env } from '../edge/env.ts'
import { dropSession, sessionOf } from '../frame/cookies.ts'
import { ownPath } from '../frame/own-path.ts'

const SIGN_IN = '/settings/sign-in'

export function toSignIn(c: Context<Env>): Response {
  if (sessionOf(c) !== null) dropSession(c)
  const { pathname, search } = new URL(c.req.url)
  const next = c.req.method === 'GET' ? ownPath(`${pathname}${search}`) : null
  const query = next === null ? '' : `?${new URLSearchParams({ next })}`
  return c.redirect(`${SIGN_IN}${query}`, 303)
}
