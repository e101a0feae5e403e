import { type Listing, openPage, paged } from './paging.ts'

/** Requests of one call at once, where nothing else is said. */
const AT_ONCE = 8

/**
 * What becomes of each item, in the same order, a few at a time.
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
 * A listing whose items become none, one or several others; it is one that `chain` and `nested` take.
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
