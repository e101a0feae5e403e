/** Key of a background job: a review, for its due times, or one of its apps. */
import type { Db } from '../../database/database.ts'
import type { SendJob } from '../kernel/context/send.ts'

type ReviewKey = { kind: 'review' | 'app'; id: string }

const keyOf = ({ kind, id }: ReviewKey): string => `${kind} ${id}`

/** Parses a key. Returns null if it is not valid. */
export function parseReviewKey(key: string): ReviewKey | null {
  const [kind, id = ''] = key.split(' ')
  return kind === 'review' || kind === 'app' ? { kind, id } : null
}

/** Queues the job of a review, or of an app of one, once the transaction has committed. */
export const sendReviewJob = (tx: Db, key: ReviewKey, { send }: { send: SendJob }): Promise<void> =>
  send(tx, 'access-reviews', keyOf(key))
