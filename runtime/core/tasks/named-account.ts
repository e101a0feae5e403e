/** How a task names the account that a person has to look for in its app. */
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accounts } from '../../database/schema/apps.ts'
import { keptText } from '../kernel/kept-text.ts'

/** An account's id, and the name that people know it by where that is another: an id may be one that only programs read. */
export async function namedAccount(tx: Db, appId: string, account: string): Promise<string> {
  const [known] = await tx
    .select({ email: accounts.email, attributes: accounts.attributes })
    .from(accounts)
    .where(and(eq(accounts.appId, appId), eq(accounts.uniqueIdentifier, account)))
  const name = known?.attributes['username'] ?? known?.email ?? account
  const id = keptText(account, 200)
  return name === account ? id : `${id} (${keptText(name, 200)})`
}
