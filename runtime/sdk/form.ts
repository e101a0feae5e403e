import { type Query, valuesOf } from './url.ts'

/**
 * An urlencoded form, as a body of `client`: `undefined` and `null` are left out, an array repeats its
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
