import type { Context } from 'hono'
import type { Env } from './env.ts'

/** Behind a proxy that ends TLS, the proxy says so; who says it falsely only harms its own answers. */
export const isHttps = (c: Context<Env>): boolean =>
  c.req.header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ||
  new URL(c.req.url).protocol === 'https:'

/**
 * Where the host is reached, for addresses in answers. Without a public address, a proxy that ends TLS says the scheme.
 *
 * @param publicOrigin KEYWAY_PUBLIC_URL; null where it is not set.
 */
export function originOf(c: Context<Env>, publicOrigin: string | null): string {
  if (publicOrigin !== null) return publicOrigin
  const { host } = new URL(c.req.url)
  return `${isHttps(c) ? 'https' : 'http'}://${host}`
}
