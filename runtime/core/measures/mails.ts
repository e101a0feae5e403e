/** How much mail waits, is put off, and was refused. */
import type { Readings } from '../../contract/endpoints/metrics.ts'
import type { Db } from '../../database/database.ts'
import { mailCounts } from '../mail/operate.ts'

export async function mailsByState(db: Db): Promise<Readings> {
  const { waiting, failing, refused } = await mailCounts(db)
  const values = Object.entries({ waiting, failing, refused })
  return { keyway_mails: values.map(([state, value]) => ({ labels: { state }, value })) }
}
