/** What the steps of a request need besides the database: what time it is, and a word to the background. */
import type { Db } from '../../database/database.ts'
import type { CoreParts } from '../parts.ts'
import type { RequestRow } from './move.ts'

export type RequestMeans = Pick<CoreParts, 'send' | 'now'>

/** What is done for one person in one app is done one at a time: both make the key of its job. */
export const pairKey = ({ carriedAppId, targetUserId }: Pair): string =>
  `${carriedAppId} ${targetUserId}`

export type Pair = Pick<RequestRow, 'carriedAppId' | 'targetUserId'>

export function pairOf(key: string): Pair {
  const [carriedAppId = '', targetUserId = ''] = key.split(' ')
  return { carriedAppId, targetUserId }
}

/** Has a request looked at in the background as soon as the transaction is over. */
export const look = (tx: Db, request: RequestRow, { send }: RequestMeans): Promise<void> =>
  send(tx, 'access-requests', pairKey(request))
