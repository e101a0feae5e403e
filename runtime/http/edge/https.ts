import type { Context } from 'hono'
import type { Env } from './env.ts'

/**
 * Reports whether the client uses HTTPS. A proxy that ends TLS states it in a header; a client that forges
 * the header affects only its own answers.
 */
export const isHttps = (c: Context<Env>): boolean =>
  c.req.header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ||
  new URL(c.req.url).protocol === 'https:'

/**
 * Returns the origin of the host, for addresses in answers. Without a public address, the scheme comes from a
 * proxy that ends TLS.
 *
 * @param publicOrigin KEYWAY_PUBLIC_URL, or null if it is not set.
 */
export function originOf(c: Context<Env>, publicOrigin: string | null): string {
  if (publicOrigin !== null) return publicOrigin
  const { host } = new URL(c.req.url)
  return `${isHttps(c) ? 'https' : 'http'}://${host}`
}
