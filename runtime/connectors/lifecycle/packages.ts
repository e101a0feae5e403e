/** Packages in the database, by digest. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { normalizeId } from '../../contract/connector/manifest.ts'
import type { InstalledVersion, Publisher, Statement } from '../../contract/endpoints/generation.ts'
import type { Db } from '../../database/database.ts'
import { packages } from '../../database/schema/lifecycle.ts'
import type { Package } from '../packages/format.ts'
import { trustOf } from '../packages/sign.ts'

/** A package as uploaded. */
export type UploadedPackage = { package: Package; packed: Buffer; signature: string | null }

/** Stores a package. Its signature comes with the generation that names it. */
export async function keepPackage(
  db: Db,
  domainId: string,
  { package: { digest, digestsText, digests }, packed }: Omit<UploadedPackage, 'signature'>,
): Promise<void> {
  const { version } = digests
  const connector = normalizeId(digests.id)
  await db
    .insert(packages)
    .values({ domainId, digest, connector, version, packed, digestsText, signature: null })
    .onConflictDoNothing()
}

/** Stores the signature of a package, in the transaction of the generation that records its trust. */
export async function keepSignature(
  tx: Db,
  domainId: string,
  digest: string,
  signature: string | null,
): Promise<void> {
  await tx
    .update(packages)
    .set({ signature })
    .where(and(eq(packages.domainId, domainId), eq(packages.digest, digest)))
}

/** Number of past generations whose packages are kept for a rollback. */
const KEPT_GENERATIONS = 100

/**
 * Deletes packages that none of the last hundred generations names, at the earliest one day after their
 * upload, since another operation may be installing them. Requires the lock of a change.
 */
export async function forgetUnnamed(tx: Db, domainId: string): Promise<void> {
  await tx.execute(sql`
    with recent as (
      select connectors from generations where domain_id = ${domainId}
      order by number desc limit ${KEPT_GENERATIONS}
    ), states as (
      select distinct said.value as digest from recent, jsonb_each_text(recent.connectors) said
    ), named as (
      select one ->> 'digest' as digest
      from states join installed_states using (digest), jsonb_array_elements(state -> 'versions') one
    )
    delete from packages where domain_id = ${domainId}
      and uploaded_at < now() - interval '1 day' and digest not in (select digest from named)`)
}

/** Reads the bytes of a package, or null if it is not stored. */
export async function packedOf(db: Db, domainId: string, digest: string): Promise<Buffer | null> {
  const [row] = await db
    .select({ packed: packages.packed })
    .from(packages)
    .where(and(eq(packages.domainId, domainId), eq(packages.digest, digest)))
  return row?.packed ?? null
}

/** Returns the trust of a package, as recorded in a statement. */
export function trusted(
  { digestsText }: Pick<Package, 'digestsText'>,
  signature: string | null,
  publishers: readonly Publisher[],
): Pick<InstalledVersion, 'trust' | 'publisher' | 'key'> & { why: string | null } {
  const found = trustOf({ digestsText }, signature, publishers)
  return {
    trust: found.state,
    publisher: found.state === 'trusted' ? found.publisher : null,
    key: found.state === 'invalid' ? null : found.key,
    why: found.state === 'invalid' ? found.why : null,
  }
}

/** Returns a statement in which every version has the trust that its publishers give it now. */
export async function judgedAnew(
  tx: Db,
  domainId: string,
  statement: Statement,
): Promise<Statement> {
  const versions = Object.values(statement.connectors).flatMap((one) => one.versions)
  const digests = versions.map(({ digest }) => digest)
  const rows =
    digests.length === 0
      ? []
      : await tx
          .select({
            digest: packages.digest,
            digestsText: packages.digestsText,
            signature: packages.signature,
          })
          .from(packages)
          .where(and(eq(packages.domainId, domainId), inArray(packages.digest, digests)))
  const byDigest = new Map(rows.map((row) => [row.digest, row]))
  const judge = (version: InstalledVersion): InstalledVersion => {
    const row = byDigest.get(version.digest)
    if (!row) return version
    const { why: _told, key, ...trust } = trusted(row, row.signature, statement.publishers)
    // The owner of a connector stays known when its key is no longer trusted.
    return { ...version, ...trust, key: key ?? version.key }
  }
  return {
    ...statement,
    connectors: Object.fromEntries(
      Object.entries(statement.connectors).map(([key, one]) => {
        const judged = one.versions.map(judge)
        const same = judged.every(
          ({ trust, key: by }, index) =>
            trust === one.versions[index]?.trust && by === one.versions[index]?.key,
        )
        return [key, same ? one : { ...one, versions: judged }]
      }),
    ),
  }
}
