/** The two cookies of the settings pages: who is signed in, and who asked for the form to do so. */
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { SESSION_MS } from '../../core/sign-in/sessions.ts'
import { randomSecret } from '../../secrets/key-derivation.ts'
import type { Env } from '../edge/env.ts'

const SESSION = 'keyway_session'
const VISITOR = 'keyway_visitor'

const PATH = '/settings'

/** Behind a proxy that ends TLS, the proxy says so; who says it falsely only loses the own cookie. */
const isHttps = (c: Context<Env>): boolean =>
  c.req.header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ||
  new URL(c.req.url).protocol === 'https:'

const options = (c: Context<Env>) =>
  ({ httpOnly: true, sameSite: 'Strict', path: PATH, secure: isHttps(c) }) as const

const textOf = (c: Context<Env>, name: string): string | null => {
  const text = getCookie(c, name) ?? ''
  return /^[\w-]{20,100}$/.test(text) ? text : null
}

export const sessionOf = (c: Context<Env>): string | null => textOf(c, SESSION)

export function keepSession(c: Context<Env>, secret: string): void {
  setCookie(c, SESSION, secret, { ...options(c), maxAge: SESSION_MS / 1000 })
  deleteCookie(c, VISITOR, options(c))
}

export const dropSession = (c: Context<Env>): void => void deleteCookie(c, SESSION, options(c))

/** The secret that a sign-in form is bound to, before there is a session. */
export const visitorOf = (c: Context<Env>): string | null => textOf(c, VISITOR)

export function ensureVisitor(c: Context<Env>): string {
  const known = visitorOf(c)
  if (known !== null) return known
  const made = randomSecret()
  setCookie(c, VISITOR, made, options(c))
  return made
}
