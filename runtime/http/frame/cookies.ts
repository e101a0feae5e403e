/** The cookies of the pages: who is signed in, who asked for the form to do so, and what was just done. */
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

/** Where the session's cookie of earlier versions counted. */
const FORMER_PATH = '/settings'

/** By https the name has the prefix that keeps other hosts of the domain, and plain http, from setting it. */
const nameOf = (c: Context<Env>, name: string): string => (isHttps(c) ? `__Host-${name}` : name)

const options = (c: Context<Env>, sameSite: 'Strict' | 'Lax') =>
  ({ httpOnly: true, sameSite, path: '/', secure: isHttps(c) }) as const

const textOf = (c: Context<Env>, name: string): string | null => {
  const text = getCookie(c, nameOf(c, name)) ?? ''
  return /^[\w.-]{20,160}$/.test(text) ? text : null
}

export const sessionOf = (c: Context<Env>): string | null => textOf(c, SESSION)

/**
 * `Lax`: a link in a mail, and the way back from a provider of sign-in, open a page for who is signed in. What
 * changes something is a form with a proof, which other sites cannot send.
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

/** A browser sends the one of the longer path first: it would hide the other. */
const dropFormer = (c: Context<Env>): void =>
  void deleteCookie(c, SESSION, { path: FORMER_PATH, secure: isHttps(c) })

/** The secret that a sign-in form is bound to, before there is a session. */
export const visitorOf = (c: Context<Env>): string | null => textOf(c, VISITOR)

export function ensureVisitor(c: Context<Env>): string {
  const known = visitorOf(c)
  if (known !== null) return known
  const made = randomSecret()
  setCookie(c, nameOf(c, VISITOR), made, options(c, 'Strict'))
  return made
}

/** Where a browser reaches this host: what stands before a path. */
export const hostOrigin = (c: Context<Env>): string =>
  `${isHttps(c) ? 'https' : 'http'}://${c.req.header('host') ?? ''}`

/** How long a person may take at a provider of sign-in, in seconds. */
export const BEGUN_SECONDS = 600

/** `Lax`: the provider sends the browser back. */
export const keepBegun = (c: Context<Env>, text: string): void =>
  setCookie(c, nameOf(c, BEGUN), text, { ...options(c, 'Lax'), maxAge: BEGUN_SECONDS })

/** What was kept of a sign-in that was begun, once. */
export function takeBegun(c: Context<Env>): string | null {
  const text = getCookie(c, nameOf(c, BEGUN)) ?? ''
  if (text !== '') deleteCookie(c, nameOf(c, BEGUN), options(c, 'Lax'))
  return /^[\w-]{20,3000}$/.test(text) ? text : null
}

/** How long a person may take to give consent for an app, in seconds. */
export const CONSENT_SECONDS = 600

/** Longest text: browsers keep no cookie over 4096 bytes, its name and attributes included. */
const MAX_CONSENT = 3700

/** `Lax`: the authorization server sends the browser back. False where it is too long to be kept. */
export function keepConsent(c: Context<Env>, text: string): boolean {
  if (text.length > MAX_CONSENT) return false
  const kept = { ...options(c, 'Lax'), maxAge: CONSENT_SECONDS }
  setCookie(c, nameOf(c, CONSENT), text, kept)
  return true
}

/** What was kept of a consent that is being given. */
export function consentOf(c: Context<Env>): string | null {
  const text = getCookie(c, nameOf(c, CONSENT)) ?? ''
  return /^[\w-]{20,}$/.test(text) && text.length <= MAX_CONSENT ? text : null
}

export const dropConsent = (c: Context<Env>): void =>
  void deleteCookie(c, nameOf(c, CONSENT), options(c, 'Lax'))

/** Longest time from what was done to the page that says so, in seconds. */
const FLASH_SECONDS = 60

export const keepFlash = (c: Context<Env>, text: string): void =>
  setCookie(c, nameOf(c, FLASH), text, { ...options(c, 'Lax'), maxAge: FLASH_SECONDS })

/** What was kept, once. */
export function takeFlash(c: Context<Env>): string | null {
  const text = textOf(c, FLASH)
  if (text !== null) deleteCookie(c, nameOf(c, FLASH), options(c, 'Lax'))
  return text
}

/** Browsers keep no cookie longer, in seconds. */
const LOOK_SECONDS = 400 * 86_400

/** How pages look in this browser. */
export const keptLook = (c: Context<Env>): BrowserLook => lookOf(getCookie(c, nameOf(c, LOOK)))

export const keepLook = (c: Context<Env>, look: BrowserLook): void =>
  setCookie(c, nameOf(c, LOOK), textOfLook(look), { ...options(c, 'Lax'), maxAge: LOOK_SECONDS })
