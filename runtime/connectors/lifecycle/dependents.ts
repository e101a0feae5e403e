/**
 * Finds what a version would break: the connected apps of its connector, and the credentials of its smoke
 * test.
 */
import { and, asc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import * as v from 'valibot'
import type { Connection } from '../../contract/connector/connection.ts'
import { type Manifest, normalizeId } from '../../contract/connector/manifest.ts'
import { describeIssues } from '../../contract/connector/payload.ts'
import { quietMembers } from '../../contract/connector/secrets.ts'
import { flatSchema } from '../../contract/connector/settings.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { openConnection } from '../../core/catalogue/apps/connections.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import type { Sealer } from '../../secrets/seal.ts'
import type { Incompatibility } from '../registry/compatibility.ts'

/** `why`: the part of the connection that does not fit; null if the app loses something that it may call. */
export type BrokenApp = { id: string; name: string; why: string | null }

/** Maximum number of apps examined, and named. */
const MAX_LOOKED_AT = 1000
const MAX_NAMED = 10

/**
 * Returns which part of a stored connection or probe a version does not accept; null if it accepts all.
 * Contains no values.
 */
export function misfit(manifest: Manifest, kept: Partial<Connection>): string | null {
  const { authentication_schema: single, credentials = [] } = manifest
  const schema = flatSchema(manifest.settings)
  const parsed = v.safeParse(schema, kept.settings ?? {})
  const ofSettings = parsed.success
    ? []
    : [describeIssues(parsed.issues, 'settings', quietMembers(schema))]
  const dropped = Object.entries(kept.settings ?? {})
    .filter(([name, value]) => value !== null && !Object.hasOwn(manifest.settings, name))
    .map(([name]) => `settings.${name}: is not known any more`)
  const ofAuth = single && !kept.auth?.[single.kind] ? [`auth.${single.kind}: missing`] : []
  const ofCredentials = credentials
    .filter(({ id, kind, optional }) => {
      const held = kept.credentials?.find((one) => one.id === id)
      return held ? !held[kind] : !optional
    })
    .map(({ id, kind }) => `credentials.${id}: needs ${kind}`)
  const found = [...ofSettings, ...dropped, ...ofAuth, ...ofCredentials]
  return found.length === 0 ? null : found.slice(0, 10).join('; ')
}

/**
 * Returns the connected apps that a version would break: all of them if it removes a capability or a type,
 * otherwise those whose connection does not fit.
 */
export async function brokenApps(
  db: Db,
  vault: Sealer,
  domainId: string,
  { id, manifest, findings }: { id: string; manifest: Manifest; findings: Incompatibility[] },
): Promise<BrokenApp[]> {
  const rows = await db
    .select()
    .from(apps)
    .where(
      and(
        eq(apps.domainId, domainId),
        sql`replace(${apps.connectorId}, '-', '_') = ${normalizeId(id)}`,
        isNotNull(apps.sealedConnection),
        isNull(apps.disconnectedAt),
      ),
    )
    .orderBy(asc(apps.name), asc(apps.id))
    .limit(MAX_LOOKED_AT)
  const all = findings.some(
    ({ where }) => !/^(settings|credentials|authentication_schema)(\.|$)/.test(where),
  )
  return rows.flatMap((app) => {
    const connection = opened(vault, app)
    const why = connection && misfit(manifest, connection)
    return all || why !== null ? [{ id: app.id, name: app.name, why }] : []
  })
}

/** Decrypts a connection. One that cannot be decrypted is broken already. */
function opened(vault: Sealer, app: typeof apps.$inferSelect): Connection | null {
  try {
    return openConnection(vault, app)
  } catch (error) {
    if (error instanceof CoreError) return null
    throw error
  }
}

/** Returns a sentence that names the apps; empty if there are none. */
export function brokenInWords(broken: readonly BrokenApp[]): string {
  if (broken.length === 0) return ''
  const named = broken
    .slice(0, MAX_NAMED)
    .map(({ id, name, why }) => `${JSON.stringify(name)} (${id}${why === null ? '' : `: ${why}`})`)
  const more = broken.length > MAX_NAMED ? `, and ${broken.length - MAX_NAMED} more` : ''
  return `. It would break ${broken.length === 1 ? 'the app' : 'the apps'} ${named.join(', ')}${more}`
}
