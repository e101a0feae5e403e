/**
 * Deployment: all hosts on one database. Data that one host sealed or signed with KEYWAY_SECRET must be
 * readable by the others. A host with another secret is refused before it serves or writes anything.
 */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { lockUntilEnd } from '../../../database/locks.ts'
import { deploymentSecret } from '../../../database/schema/deployment.ts'
import { nodes } from '../../../database/schema/lifecycle.ts'
import { hostsKeyIdBefore, keyId } from '../../../secrets/key-derivation.ts'

/** Time after which a silent host is ignored, in seconds. Hosts report every two. */
const LIVE_SECONDS = 10

const CURRENT = 'current'
/** Name of the row that records when a live host last wrote with another secret than the newest. */
const BEHIND = 'behind'

const replaced = (id: string): string => `replaced ${id}`

/** The host's secrets do not match those of the deployment. The message explains what to do. */
export class SecretMismatchError extends Error {}

/**
 * Agrees with the other hosts on the secret. The first host sets it. A host that lists it after a newer one
 * makes the newer one current (a rotation). A host that does not list it is refused. A replaced secret never
 * becomes current again: hosts that list the two in opposite orders do not undo each other's work.
 *
 * @param secrets the host's secrets, newest first
 * @returns false if the host's first secret is a replaced one
 * @throws SecretMismatchError if the host does not have the current secret
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

/** Reads the row of the newest secret. A key id in the format of an older version is converted. */
async function currentOf(tx: Db, secrets: readonly string[]) {
  const found = await rowNamed(tx, CURRENT)
  const secret = secrets.find((one) => hostsKeyIdBefore(one) === found?.keyId)
  if (secret === undefined) return found
  await put(tx, CURRENT, keyId(secret))
  return rowNamed(tx, CURRENT)
}

/**
 * Returns the id of the newest secret that a host has started with, and the time of that start, or null
 * before the first host.
 */
export async function newestSecret(db: Db): Promise<{ keyId: string; since: Date } | null> {
  return (await rowNamed(db, CURRENT)) ?? null
}

/**
 * Returns the condition that values made with an older secret may be made again with this one: it is the
 * deployment's newest, and every live host has it. A host without it would no longer recognise such a value.
 */
export const mayRenew = (id: string): SQL => sql`(
  exists (select from ${deploymentSecret}
    where ${deploymentSecret.name} = ${CURRENT} and ${deploymentSecret.keyId} = ${id})
  and not exists (select from ${nodes}
    where ${isLive} and not coalesce(${nodes.keyIds} ? ${id}, false)))`

/** Condition on `nodes`: the host reported recently. */
export const isLive: SQL = sql`${nodes.seenAt} > now() - make_interval(secs => ${LIVE_SECONDS}::int)`

/** Records the current time if a live host writes with another secret than the newest. */
export async function recordLaggingHost(db: Db): Promise<void> {
  await db.execute(sql`
    insert into deployment_secret (name, key_id)
    select ${BEHIND}, key_id from deployment_secret current
    where name = ${CURRENT}
      and exists (select from ${nodes} where ${isLive} and ${nodes.keyIds} ->> 0 is distinct from current.key_id)
    on conflict (name) do update set key_id = excluded.key_id, since = now()`)
}

/** Returns the time since which no host has written with an older secret, as far as recorded. */
export async function newestSecretOnlySince(db: Db): Promise<Date | null> {
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
