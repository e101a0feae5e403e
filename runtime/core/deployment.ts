/**
 * Several hosts on one database are one deployment: what one has sealed or signed with KEYWAY_SECRET, the
 * others must be able to read. A host with another secret is refused before it serves or writes anything.
 */
import { hkdfSync } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../database/database.ts'
import { deploymentSecret } from '../database/schema/deployment.ts'

const CURRENT = 'current'

/** Which advisory lock stands for "agreeing on the secret". */
const LOCK = 0x6b657964

/** The host's secrets are not those of the deployment; the message says what to do. */
export class SecretMismatchError extends Error {}

const keyIdOf = (secret: string): string =>
  Buffer.from(hkdfSync('sha256', secret, 'keyway', 'deployment-secret', 16)).toString('hex')

/**
 * Agrees with the other hosts on the secret: the first host says which it is; one whose list has it
 * behind a newer one makes the newer one known (a rotation); one that does not have it is refused.
 *
 * @param secrets The host's secrets, newest first.
 * @throws SecretMismatchError
 */
export async function agreeOnSecret(db: Db, secrets: readonly string[]): Promise<void> {
  const [newest = '', ...older] = secrets.map(keyIdOf)
  await db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCK})`)
    const [known] = await tx
      .select()
      .from(deploymentSecret)
      .where(eq(deploymentSecret.name, CURRENT))
    if (known?.keyId === newest) return
    if (known && !older.includes(known.keyId)) {
      throw new SecretMismatchError(
        'KEYWAY_SECRET is not the secret of this database: every host on it needs the same list, newest first. Set it to that of the other hosts (or keep the file `secret` of the data directory that made it). If it is lost, tokens and stored credentials made with it are lost too: run `delete from deployment_secret` in the database to begin with a new one',
      )
    }
    await tx
      .insert(deploymentSecret)
      .values({ name: CURRENT, keyId: newest })
      .onConflictDoUpdate({
        target: deploymentSecret.name,
        set: { keyId: newest, since: sql`now()` },
      })
  })
}
