/** A lock on the names of the company's own groups: only one transaction at a time creates or renames one. */
import type { Db } from '../../database/database.ts'
import { lockTextUntilEnd } from '../../database/locks.ts'

/** Waits until nobody else makes or renames a group of a domain; others wait until the transaction ends. */
export async function lockGroupNames(tx: Db, domainId: string): Promise<void> {
  await tx.execute(lockTextUntilEnd(`names of groups ${domainId}`))
}
