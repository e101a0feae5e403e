/**
 * Credentials with which a new version of a connector is tested before calls are routed to it. Encrypted at
 * rest.
 */
import { and, eq } from 'drizzle-orm'
import { normalizeId } from '../../contract/connector/manifest.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Db } from '../../database/database.ts'
import { probes } from '../../database/schema/lifecycle.ts'
import { SealError, type Sealer } from '../../secrets/seal.ts'

/** Members of the envelope with the credentials and settings of a call. */
export type Probe = Record<string, unknown>

/** Returns the associated data of a connector's encrypted probe. */
export const boundToProbe = (domainId: string, connector: string): Buffer =>
  Buffer.from(`probe ${domainId} ${connector}`)

export async function setProbe(
  db: Db,
  vault: Sealer,
  domainId: string,
  id: string,
  probe: Probe,
): Promise<void> {
  const connector = normalizeId(id)
  const sealed = vault.seal(JSON.stringify(probe), boundToProbe(domainId, connector))
  await db
    .insert(probes)
    .values({ domainId, connector, sealed })
    .onConflictDoUpdate({ target: [probes.domainId, probes.connector], set: { sealed } })
}

/** Deletes the credentials. @returns whether there were any */
export async function forgetProbe(db: Db, domainId: string, id: string): Promise<boolean> {
  const deleted = await db
    .delete(probes)
    .where(and(eq(probes.domainId, domainId), eq(probes.connector, normalizeId(id))))
    .returning({ connector: probes.connector })
  return deleted.length > 0
}

const rowOf = async (db: Db, domainId: string, id: string) => {
  const [row] = await db
    .select()
    .from(probes)
    .where(and(eq(probes.domainId, domainId), eq(probes.connector, normalizeId(id))))
  return row
}

export const hasProbe = async (db: Db, domainId: string, id: string): Promise<boolean> =>
  (await rowOf(db, domainId, id)) !== undefined

/** Reads the credentials. @throws RuntimeError state_conflict if they can no longer be decrypted */
export async function probeOf(
  db: Db,
  vault: Sealer,
  domainId: string,
  id: string,
): Promise<Probe | null> {
  const row = await rowOf(db, domainId, id)
  if (!row) return null
  try {
    return JSON.parse(vault.open(row.sealed, boundToProbe(domainId, row.connector)))
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    const why =
      error.why === 'key'
        ? `were sealed with the key ${error.keyId}, which no secret of KEYWAY_SECRET makes`
        : 'were altered'
    throw new RuntimeError(
      'state_conflict',
      `The credentials that new versions of ${id} are tried with ${why}: give them again with keyway probe ${id} --as FILE, or do without by keyway probe ${id} --forget`,
    )
  }
}
