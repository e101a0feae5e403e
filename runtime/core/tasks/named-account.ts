/** Naming an account in a task, so that a person can find it in its app. */
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accounts } from '../../database/schema/apps.ts'
import { keptText } from '../kernel/kept-text.ts'

/** Returns the id of an account, followed by its display name if that differs: the id may be unreadable. */
export async function namedAccount(tx: Db, appId: string, account: string): Promise<string> {
  const [known] = await tx
    .select({ email: accounts.email, attributes: accounts.attributes })
    .from(accounts)
    .where(and(eq(accounts.appId, appId), eq(accounts.uniqueIdentifier, account)))
  const name = known?.attributes['username'] ?? known?.email ?? account
  const id = keptText(account, 200)
  return name === account ? id : `${id} (${keptText(name, 200)})`
}
