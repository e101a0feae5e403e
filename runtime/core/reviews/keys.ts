/** What the background looks at: a review, for its moments, or one of its apps. */
import type { Db } from '../../database/database.ts'
import type { SendJob } from '../kernel/context/send.ts'

type ReviewKey = { kind: 'review' | 'app'; id: string }

const keyOf = ({ kind, id }: ReviewKey): string => `${kind} ${id}`

/** What a key names; null for a text that is none. */
export function parseReviewKey(key: string): ReviewKey | null {
  const [kind, id = ''] = key.split(' ')
  return kind === 'review' || kind === 'app' ? { kind, id } : null
}

/** Has a review, or an app of one, looked at once the transaction is over. */
export const sendReviewJob = (tx: Db, key: ReviewKey, { send }: { send: SendJob }): Promise<void> =>
  send(tx, 'access-reviews', keyOf(key))
