/** Pair of a person and a connected app in which they have an account. */
import type { accessRequests } from '../../database/schema/requests.ts'

/** Columns of a request that identify a person and the app in which it is carried out. */
export type Pair = Pick<typeof accessRequests.$inferSelect, 'carriedAppId' | 'targetUserId'>

/** Access to grant or revoke: the app itself, or an entitlement in it. */
export type PairGrant = Pair & Pick<typeof accessRequests.$inferSelect, 'entitlement'>

/** Returns the job key of a pair. Work for one person in one app runs one job at a time. */
export const pairKey = ({ carriedAppId, targetUserId }: Pair): string =>
  `${carriedAppId} ${targetUserId}`

/** Returns the pair of a key. */
export function pairOf(key: string): Pair {
  const [carriedAppId = '', targetUserId = ''] = key.split(' ')
  return { carriedAppId, targetUserId }
}
