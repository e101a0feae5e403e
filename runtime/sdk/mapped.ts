import { type Listing, openPage, paged } from './paging.ts'

/** Default number of concurrent requests of one call. */
const AT_ONCE = 8

/**
 * Maps items with a limited number of concurrent calls. Results are in the order of the items.
 *
 * @example
 * const ids = await api.get<string[]>('/users')
 * const users = await inParallel(ids, (id) => ifThere(api.get<User>(path`/users/${id}`)))
 */
export async function inParallel<T, U>(
  items: readonly T[],
  map: (item: T) => U | Promise<U>,
  atOnce: number = AT_ONCE,
): Promise<U[]> {
  const done: U[] = []
  for (let start = 0; start < items.length; start += atOnce)
    done.push(...(await Promise.all(items.slice(start, start + atOnce).map(map))))
  return done
}

/**
 * Returns a listing whose items are each mapped to none, one or several others. `chain` and `nested` accept
 * it.
 *
 * @example
 * const users: Listing<User> = async (at) => {
 *   const page = await api.get<{ users: User[]; next?: string }>('/users', {
 *     query: { after: textCursor(at), limit: at.size },
 *   })
 *   return cursorPage(page.users, page.next)
 * }
 * const accounts = mapped(users, (user) => (user.bot ? [] : [toAccount(user)]))
 * return accounts(ctx.page)
 */
export function mapped<T, const U>(
  listing: Listing<T>,
  map: (item: T) => readonly U[] | Promise<readonly U[]>,
): Listing<U> {
  return async (at) => {
    const { items, cursor } = openPage(await listing(at))
    return paged((await inParallel(items, map)).flat(), cursor)
  }
}
