import { type Query, valuesOf } from './url.ts'

/**
 * Returns a URL-encoded form as a body for `client`. `undefined` and `null` are omitted; an array repeats its
 * name.
 *
 * @example
 * const { session } = await api.post<{ session: string }>(
 *   '/login',
 *   form({ user: ctx.auth.basic.username, password: ctx.auth.basic.password }),
 * )
 */
export function form(fields: Query): URLSearchParams {
  return new URLSearchParams(valuesOf(fields))
}
