/** A person in a connected app: whose account it is. */
import type { accessRequests } from '../../database/schema/requests.ts'

/** Columns of a request that name a person and the app in which it is carried out. */
export type Pair = Pick<typeof accessRequests.$inferSelect, 'carriedAppId' | 'targetUserId'>

/** What is given or taken: the app itself, or an entitlement in it. */
export type PairGrant = Pair & Pick<typeof accessRequests.$inferSelect, 'entitlement'>

/** What is done for one person in one app is done one at a time: both make the key of its job. */
export const pairKey = ({ carriedAppId, targetUserId }: Pair): string =>
  `${carriedAppId} ${targetUserId}`

/** The pair of a key. */
export function pairOf(key: string): Pair {
  const [carriedAppId = '', targetUserId = ''] = key.split(' ')
  return { carriedAppId, targetUserId }
}
