/** Grants of secrets in clear by the operator: KEYWAY_CLEAR_SECRETS. */
import * as v from 'valibot'
import { ConnectorId, type Manifest, normalizeId } from '../../contract/connector/manifest.ts'

/** Normalised connector id -> fields that its code may see. */
export type ClearGrants = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Parses `connector_id=field` entries separated by white space. A field is named as in `clear_secrets`:
 * `token.token`, `settings.key`, `request.password`.
 *
 * @throws Error with the invalid entry and the right form
 */
export function parseClearGrants(text: string): ClearGrants {
  const grants = new Map<string, Set<string>>()
  for (const entry of text.split(/\s+/).filter(Boolean)) {
    const [, id = '', field = ''] = /^([^=]+)=([a-z][a-z0-9_]*\.[a-z][a-z0-9_]*)$/.exec(entry) ?? []
    if (field === '') throw refuse(entry, 'is not connector_id=field')
    if (!v.is(ConnectorId, id)) throw refuse(entry, `names no valid connector id (${id})`)
    const key = normalizeId(id)
    grants.set(key, (grants.get(key) ?? new Set()).add(field))
  }
  return grants
}

/**
 * Explains why a connector is not served yet: what it wants to see, its reasons, and how to grant it. Null if
 * nothing is missing.
 */
export function wantsClear(grants: ClearGrants, { id, clear_secrets }: Manifest): string | null {
  const granted = grants.get(normalizeId(id))
  const wanted = clear_secrets.filter(({ field }) => !granted?.has(field))
  if (wanted.length === 0) return null
  const reasons = wanted.map(({ field, because }) => `${field} ("${because}")`).join(', ')
  const entries = wanted.map(({ field }) => `${id}=${field}`).join(' ')
  return `wants to see secrets in clear: ${reasons}; if you trust its code with them, start with KEYWAY_CLEAR_SECRETS="${entries}"`
}

const refuse = (entry: string, why: string): Error =>
  new Error(
    `KEYWAY_CLEAR_SECRETS: "${entry}" ${why}. Write entries such as acme=token.token or acme=settings.key, separated by spaces`,
  )
