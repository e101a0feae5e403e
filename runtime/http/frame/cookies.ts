/** Cookies of the pages: the session, the visitor before sign-in, and the message of the last action. */
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { SESSION_MS } from '../../core/sign-in/sessions.ts'
import { randomSecret } from '../../secrets/key-derivation.ts'
import type { Env } from '../edge/env.ts'
import { isHttps } from '../edge/https.ts'
import { type BrowserLook, lookOf, textOfLook } from './look.ts'

const SESSION = 'keyway_session'
const VISITOR = 'keyway_visitor'
const FLASH = 'keyway_flash'
const BEGUN = 'keyway_sign_in'
const CONSENT = 'keyway_consent'
const LOOK = 'keyway_look'

/** Path of the session cookie of earlier versions. */
const FORMER_PATH = '/settings'

/**
 * Over HTTPS the name has a prefix that keeps other hosts of the domain, and plain HTTP, from setting the
 * cookie.
 */
const nameOf = (c: Context<Env>, name: string): string => (isHttps(c) ? `__Host-${name}` : name)

const options = (c: Context<Env>, sameSite: 'Strict' | 'Lax') =>
  ({ httpOnly: true, sameSite, path: '/', secure: isHttps(c) }) as const

const textOf = (c: Context<Env>, name: string): string | null => {
  const text = getCookie(c, nameOf(c, name)) ?? ''
  return /^[\w.-]{20,160}$/.test(text) ? text : null
}

export const sessionOf = (c: Context<Env>): string | null => textOf(c, SESSION)

/**
 * Stores the session. It is `Lax`, so that a link in a mail and the return from an identity provider open a
 * page of the session. Changes need a form with a proof, which other sites cannot send.
 */
export function keepSession(c: Context<Env>, secret: string): void {
  if (sessionOf(c) !== null) dropFormer(c)
  setCookie(c, nameOf(c, SESSION), secret, { ...options(c, 'Lax'), maxAge: SESSION_MS / 1000 })
  deleteCookie(c, nameOf(c, VISITOR), options(c, 'Strict'))
}

export function dropSession(c: Context<Env>): void {
  dropFormer(c)
  deleteCookie(c, nameOf(c, SESSION), options(c, 'Lax'))
}

/** A browser sends the cookie with the longer path first, so the former one would hide the new one. */
const dropFormer = (c: Context<Env>): void =>
  void deleteCookie(c, SESSION, { path: FORMER_PATH, secure: isHttps(c) })

/** Returns the secret that binds a sign-in form before there is a session, or null. */
export const visitorOf = (c: Context<Env>): string | null => textOf(c, VISITOR)

export function ensureVisitor(c: Context<Env>): string {
  const known = visitorOf(c)
  if (known !== null) return known
  const made = randomSecret()
  setCookie(c, nameOf(c, VISITOR), made, options(c, 'Strict'))
  return made
}

/** Returns the origin of this host as the browser reaches it. */
export const hostOrigin = (c: Context<Env>): string =>
  `${isHttps(c) ? 'https' : 'http'}://${c.req.header('host') ?? ''}`

/** Longest time for a sign-in at an identity provider, in seconds. */
export const BEGUN_SECONDS = 600

/** Stores a started sign-in. It is `Lax`, because the provider sends the browser back. */
export const keepBegun = (c: Context<Env>, text: string): void =>
  setCookie(c, nameOf(c, BEGUN), text, { ...options(c, 'Lax'), maxAge: BEGUN_SECONDS })

/** Returns a started sign-in once, and removes it. */
export function takeBegun(c: Context<Env>): string | null {
  const text = getCookie(c, nameOf(c, BEGUN)) ?? ''
  if (text !== '') deleteCookie(c, nameOf(c, BEGUN), options(c, 'Lax'))
  return /^[\w-]{20,3000}$/.test(text) ? text : null
}

/** Longest time for consent for an app, in seconds. */
export const CONSENT_SECONDS = 600

/** Longest cookie text. Browsers drop cookies over 4096 bytes, including name and attributes. */
const MAX_CONSENT = 3700

/**
 * Stores a started consent. It is `Lax`, because the authorization server sends the browser back. Returns
 * false if the text is too long.
 */
export function keepConsent(c: Context<Env>, text: string): boolean {
  if (text.length > MAX_CONSENT) return false
  const kept = { ...options(c, 'Lax'), maxAge: CONSENT_SECONDS }
  setCookie(c, nameOf(c, CONSENT), text, kept)
  return true
}

/** Returns a started consent, or null. */
export function consentOf(c: Context<Env>): string | null {
  const text = getCookie(c, nameOf(c, CONSENT)) ?? ''
  return /^[\w-]{20,}$/.test(text) && text.length <= MAX_CONSENT ? text : null
}

export const dropConsent = (c: Context<Env>): void =>
  void deleteCookie(c, nameOf(c, CONSENT), options(c, 'Lax'))

/** Lifetime of the message of the last action, in seconds. */
const FLASH_SECONDS = 60

export const keepFlash = (c: Context<Env>, text: string): void =>
  setCookie(c, nameOf(c, FLASH), text, { ...options(c, 'Lax'), maxAge: FLASH_SECONDS })

/** Returns the message once, and removes it. */
export function takeFlash(c: Context<Env>): string | null {
  const text = textOf(c, FLASH)
  if (text !== null) deleteCookie(c, nameOf(c, FLASH), options(c, 'Lax'))
  return text
}

/** Longest lifetime that browsers allow for a cookie, in seconds. */
const LOOK_SECONDS = 400 * 86_400

/** Returns the appearance that was chosen in this browser. */
export const keptLook = (c: Context<Env>): BrowserLook => lookOf(getCookie(c, nameOf(c, LOOK)))

export const keepLook = (c: Context<Env>, look: BrowserLook): void =>
  setCookie(c, nameOf(c, LOOK), textOfLook(look), { ...options(c, 'Lax'), maxAge: LOOK_SECONDS })
