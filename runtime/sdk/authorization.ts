/** Values of the `Authorization` header. */

/**
 * The value of a Basic `Authorization` header. Names and passwords may hold any character: they are
 * encoded as UTF-8 (RFC 7617).
 *
 * @example
 * const { username, password } = ctx.auth.basic
 * const api = client(ctx, {
 *   baseUrl: ctx.settings.base_url,
 *   authorization: basic(username, password),
 * })
 */
export function basic(user: string, password: string): string {
  const bytes = new TextEncoder().encode(`${user}:${password}`)
  // One character per byte: `btoa` takes nothing else, and spreading a long array would overflow.
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return `Basic ${btoa(binary)}`
}

/**
 * The value of a bearer `Authorization` header.
 *
 * @example
 * const api = client(ctx, {
 *   baseUrl: ctx.settings.base_url,
 *   authorization: bearer(ctx.auth.token.token),
 * })
 */
export const bearer = (token: string): string => `Bearer ${token}`
