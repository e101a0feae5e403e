/** Values of the `Authorization` header. */

/**
 * Returns the value of a Basic `Authorization` header. User name and password may contain any character;
 * they are encoded as UTF-8 (RFC 7617).
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
  // `btoa` takes one character per byte. Spreading a long array into arguments would overflow the stack.
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return `Basic ${btoa(binary)}`
}

/**
 * Returns the value of a bearer `Authorization` header (RFC 6750).
 *
 * @example
 * const api = client(ctx, {
 *   baseUrl: ctx.settings.base_url,
 *   authorization: bearer(ctx.auth.token.token),
 * })
 */
export const bearer = (token: string): string => `Bearer ${token}`
