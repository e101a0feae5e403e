/** Names of the company's own groups: whoever makes one, or renames one, does so alone. */
import type { Db } from '../../database/database.ts'
import { lockTextUntilEnd } from '../../database/locks.ts'

/** Waits until nobody else makes or renames a group of a domain; others wait until the transaction ends. */
export async function lockGroupNames(tx: Db, domainId: string): Promise<void> {
  await tx.execute(lockTextUntilEnd(`names of groups ${domainId}`))
}
