/**
 * Several hosts on one database are one deployment: what one has sealed or signed with KEYWAY_SECRET, the
 * others must be able to read. A host with another secret is refused before it serves or writes anything.
 */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { lockUntilEnd } from '../../../database/locks.ts'
import { deploymentSecret } from '../../../database/schema/deployment.ts'
import { nodes } from '../../../database/schema/lifecycle.ts'
import { hostsKeyIdBefore, keyId } from '../../../secrets/key-derivation.ts'

/** A host that was not heard of for this long is not waited for, in seconds; hosts speak every two. */
const LIVE_SECONDS = 10

const CURRENT = 'current'
/** Name of the row that says when a live host last wrote with another secret than the newest. */
const BEHIND = 'behind'

const replaced = (id: string): string => `replaced ${id}`

/** The host's secrets are not those of the deployment; the message says what to do. */
export class SecretMismatchError extends Error {}

/**
 * Agrees with the other hosts on the secret: the first host says which it is; one whose list has it
 * behind a newer one makes the newer one known (a rotation); one that does not have it is refused. A secret
 * that was replaced is never the newest again: hosts with the two in either order do not undo each other's work.
 *
 * @param secrets The host's secrets, newest first.
 * @returns false where the host's first secret is one that was replaced.
 * @throws SecretMismatchError
 */
export async function agreeOnSecret(db: Db, secrets: readonly string[]): Promise<boolean> {
  const [newest = '', ...older] = secrets.map(keyId)
  return db.transaction(async (tx) => {
    await tx.execute(lockUntilEnd('agreeing on the secret'))
    const known = await currentOf(tx, secrets)
    if (known?.keyId === newest) return true
    if (known && !older.includes(known.keyId)) {
      throw new SecretMismatchError(
        'KEYWAY_SECRET is not the secret of this database: every host on it needs the same list, newest first. Set it to that of the other hosts (or keep the file `secret` of the data directory that made it). If it is lost, tokens and stored credentials made with it are lost too: run `delete from deployment_secret` in the database to begin with a new one',
      )
    }
    if (await rowNamed(tx, replaced(newest))) return false
    if (known) await put(tx, replaced(known.keyId), known.keyId)
    await put(tx, CURRENT, newest)
    return true
  })
}

/** The row of the newest secret; where versions before have written it, it says from now on what this one says. */
async function currentOf(tx: Db, secrets: readonly string[]) {
  const found = await rowNamed(tx, CURRENT)
  const secret = secrets.find((one) => hostsKeyIdBefore(one) === found?.keyId)
  if (secret === undefined) return found
  await put(tx, CURRENT, keyId(secret))
  return rowNamed(tx, CURRENT)
}

/** Id of the newest secret that a host has started with, and since when; null before the first host. */
export async function newestSecret(db: Db): Promise<{ keyId: string; since: Date } | null> {
  return (await rowNamed(db, CURRENT)) ?? null
}

/**
 * A condition: what an older secret has made may be made again with this one. It is the deployment's newest,
 * and every live host knows it. Else a host that does not would no longer know what it knew a moment before.
 */
export const mayRenew = (id: string): SQL => sql`(
  exists (select from ${deploymentSecret}
    where ${deploymentSecret.name} = ${CURRENT} and ${deploymentSecret.keyId} = ${id})
  and not exists (select from ${nodes}
    where ${isLive} and not coalesce(${nodes.keyIds} ? ${id}, false)))`

/** A condition on `nodes`: the host was heard of lately. */
export const isLive: SQL = sql`${nodes.seenAt} > now() - make_interval(secs => ${LIVE_SECONDS}::int)`

/** Notes that a live host writes with another secret than the newest, where one does. */
export async function noteBehind(db: Db): Promise<void> {
  await db.execute(sql`
    insert into deployment_secret (name, key_id)
    select ${BEHIND}, key_id from deployment_secret current
    where name = ${CURRENT}
      and exists (select from ${nodes} where ${isLive} and ${nodes.keyIds} ->> 0 is distinct from current.key_id)
    on conflict (name) do update set key_id = excluded.key_id, since = now()`)
}

/** Since when no host writes with an older secret, as far as was noted. */
export async function nobodyBehindSince(db: Db): Promise<Date | null> {
  const [current, behind] = [await rowNamed(db, CURRENT), await rowNamed(db, BEHIND)]
  const times = [current, behind].flatMap((row) => (row ? [row.since.getTime()] : []))
  return times.length === 0 ? null : new Date(Math.max(...times))
}

async function rowNamed(db: Db, name: string) {
  const [row] = await db.select().from(deploymentSecret).where(eq(deploymentSecret.name, name))
  return row
}

async function put(tx: Db, name: string, id: string): Promise<void> {
  await tx
    .insert(deploymentSecret)
    .values({ name, keyId: id })
    .onConflictDoUpdate({
      target: deploymentSecret.name,
      set: { keyId: id, since: sql`now()` },
    })
}
