/** Lock on the names of the company's own groups: only one transaction at a time creates or renames one. */
import type { Db } from '../../database/database.ts'
import { lockTextUntilEnd } from '../../database/locks.ts'

/**
 * Takes the lock for a domain. Waits for other transactions that hold it, and keeps it until this one ends.
 */
export async function lockGroupNames(tx: Db, domainId: string): Promise<void> {
  await tx.execute(lockTextUntilEnd(`names of groups ${domainId}`))
}
