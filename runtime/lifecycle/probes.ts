/** Credentials that a new version of a connector is tried with before calls go to it; sealed at rest. */
import { and, eq } from 'drizzle-orm'
import { normalizeId } from '../contract/manifest.ts'
import type { Db } from '../database/database.ts'
import { probes } from '../database/schema/lifecycle.ts'
import type { Sealer } from '../seal.ts'

/** The envelope's members that say for whom a call is. */
export type Probe = Record<string, unknown>

const context = (domainId: string, connector: string): Buffer =>
  Buffer.from(`probe ${domainId} ${connector}`)

export async function setProbe(
  db: Db,
  vault: Sealer,
  domainId: string,
  id: string,
  probe: Probe,
): Promise<void> {
  const connector = normalizeId(id)
  const sealed = vault.seal(JSON.stringify(probe), context(domainId, connector))
  await db
    .insert(probes)
    .values({ domainId, connector, sealed })
    .onConflictDoUpdate({ target: [probes.domainId, probes.connector], set: { sealed } })
}

export async function forgetProbe(db: Db, domainId: string, id: string): Promise<void> {
  await db
    .delete(probes)
    .where(and(eq(probes.domainId, domainId), eq(probes.connector, normalizeId(id))))
}

export async function probeOf(
  db: Db,
  vault: Sealer,
  domainId: string,
  id: string,
): Promise<Probe | null> {
  const connector = normalizeId(id)
  const [row] = await db
    .select()
    .from(probes)
    .where(and(eq(probes.domainId, domainId), eq(probes.connector, connector)))
  return row ? JSON.parse(vault.open(row.sealed, context(domainId, connector))) : null
}
