/** What the steps of a request need besides the database: what time it is, and a word to the background. */
import type { Db } from '../../database/database.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { pairKey } from '../provisioning/pair.ts'
import type { RequestRow } from './move.ts'

export type RequestMeans = Pick<CoreContext, 'send' | 'now'>

/** Has a request looked at in the background as soon as the transaction is over. */
export const look = (tx: Db, request: RequestRow, { send }: RequestMeans): Promise<void> =>
  send(tx, 'access-requests', pairKey(request))
