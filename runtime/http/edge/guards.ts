/**
 * Checks of every request before it is routed. Loopback is not private: any web page can send requests to it.
 * So the media type (a page cannot send JSON without a preflight request) and the Host header (DNS rebinding)
 * are both checked. There is no CORS.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Env } from './env.ts'

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

/** Content-Type of a JSON body. */
export const JSON_TYPE = /^application\/json\s*(;|$)/i

/** Throws an error if a request is not acceptable. */
export type Check = (c: Context<Env>) => void

/** Makes a middleware of a check. */
export const guard =
  (check: Check): MiddlewareHandler<Env> =>
  async (c, next) => {
    check(c)
    await next()
  }

/** Refuses a foreign Host header (421). `null` allows every name. */
export function hostCheck(allowed: readonly string[] | null): Check {
  const isOurs = isServedHost(allowed)
  return (c) => {
    const given = c.req.header('host') ?? ''
    if (!isOurs(given)) {
      const host = bareHost(given)
      throw new RuntimeError(
        'host_wrong',
        `the Host header names ${JSON.stringify(host.slice(0, 100))}, which is not served here; to allow it, add it to KEYWAY_ALLOWED_HOSTS`,
      )
    }
  }
}

/** Returns the host without its port. */
const bareHost = (header: string): string => header.toLowerCase().replace(/:[0-9]{1,5}$/, '')

/** Creates a function that reports whether a Host header names this host. `null` allows every name. */
export function isServedHost(allowed: readonly string[] | null): (header: string) => boolean {
  if (allowed === null) return () => true
  const names = new Set([...LOOPBACK_NAMES, ...allowed].map((name) => name.toLowerCase()))
  return (header) => {
    const host = bareHost(header)
    return names.has(host) || /^127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/.test(host)
  }
}

/** Refuses any media type but application/json (415). */
export const jsonCheck: Check = mediaCheck(JSON_TYPE, 'application/json')

/** Refuses a Content-Type that does not match (415). */
export function mediaCheck(fits: RegExp, wanted: string): Check {
  return (c) => {
    const type = c.req.header('content-type') ?? ''
    if (fits.test(type)) return
    const found = type === '' ? 'missing' : JSON.stringify(type.slice(0, 100))
    throw new RuntimeError('content_type_wrong', `the content type is ${found}; send ${wanted}`)
  }
}

/** Refuses a request without the bearer token (401). An empty token allows every request. */
export function tokenCheck(token: string, what: string): Check {
  if (token === '') return () => {}
  const matches = isSecret(token)
  return (c) => {
    if (!matches(bearerOf(c))) throw noToken(c, what)
  }
}

/** Refuses a method that a path does not support (405). @param allow The supported methods */
export function wrongMethod(c: Context<Env>, allow: string): never {
  c.header('allow', allow)
  throw new RuntimeError('method_wrong', `${c.req.method} is not served here; send ${allow}`)
}

/** Returns the bearer token of a request; empty if there is none. */
export const bearerOf = (c: Context<Env>): string => bearerIn(c.req.header('authorization') ?? '')

/** Returns the bearer token of an Authorization header; empty if there is none. */
export const bearerIn = (authorization: string): string =>
  /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''

/** Creates the error for a request without the right token (401). */
export function noToken(c: Context<Env>, what: string): RuntimeError {
  c.header('www-authenticate', 'Bearer')
  return new RuntimeError(
    'token_missing',
    `${what} needs its bearer token in the Authorization header`,
  )
}

/** Creates a comparison in constant time. */
export function isSecret(expected: string): (given: string) => boolean {
  const wanted = digest(expected)
  return (given) => timingSafeEqual(digest(given), wanted)
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
