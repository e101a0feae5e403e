/** A served version of a connector: frozen data, created once. */
import * as v from 'valibot'
import { createCache } from '../../bounded/cache.ts'
import type { CapabilityName } from '../../contract/capabilities/capabilities.ts'
import { type Manifest, normalizeId } from '../../contract/connector/manifest.ts'
import { offers } from '../../contract/connector/oauth.ts'
import { requestSchema } from '../../contract/connector/payload.ts'
import { flatSchema } from '../../contract/connector/settings.ts'
import type { AnySchema } from '../../contract/schema/shape.ts'
import type { LoadedConnector } from '../../protocol/loaded.ts'
import { loaded } from './inspect.ts'

export type Version = {
  readonly id: string
  /** Canonical spelling of the id, by which routes are keyed. */
  readonly key: string
  readonly version: string
  readonly digest: string
  readonly manifest: Manifest
  /** Lane of its calls. */
  readonly lane: string
  readonly builtIn: boolean
  readonly settings: AnySchema
  /** Returns the schema of a capability's request, or null if the connector does not implement it. */
  request(capability: CapabilityName): AnySchema | null
  /** Returns what a worker loads. Read from the store at the first call. */
  load(): Promise<LoadedConnector>
}

/** Lane shared by trusted connectors. */
const BUILT_IN_LANE = 'built-in'
const TRUSTED_LANE = 'trusted'

/** Origin of a version. Trusted connectors share a lane. */
type Origin = 'built-in' | 'trusted' | 'stranger'

const LANES: Record<Origin, string | null> = {
  'built-in': BUILT_IN_LANE,
  trusted: TRUSTED_LANE,
  stranger: null,
}

/** Loaded code, by version. The same files with different grants are a different version. */
const codes = createCache<{ code: Promise<LoadedConnector>; length: number }>('connector_code', {
  bytesOf: ({ length }) => 2 * length,
})
let versionsMade = 0

export function createVersion(
  manifest: Manifest,
  digest: string,
  origin: Origin,
  readCode: () => Promise<string>,
): Version {
  const schemas = new Map<string, AnySchema>()
  let settings: AnySchema | null = null
  versionsMade += 1
  const place = `${digest} ${versionsMade}`
  return Object.freeze({
    id: manifest.id,
    key: normalizeId(manifest.id),
    version: manifest.version,
    digest,
    manifest,
    lane: LANES[origin] ?? digest,
    builtIn: origin === 'built-in',
    // Created on demand: of a thousand connectors few are called.
    get settings() {
      settings ??=
        Object.keys(manifest.settings).length === 0 ? v.object({}) : flatSchema(manifest.settings)
      return settings
    },
    request(capability: CapabilityName) {
      const known = schemas.get(capability)
      if (known || !offers(manifest, capability)) return known ?? null
      const made = requestSchema(capability, manifest.capabilities[capability]?.request_fields)
      schemas.set(capability, made)
      return made
    },
    load() {
      const known = codes.get(place)
      if (known !== undefined) return known.code
      const code = readCode().then((text) => loaded(manifest, digest, text))
      codes.set(place, { code, length: 0 })
      code.then(
        ({ code: text }) => codes.set(place, { code, length: text.length }),
        // Retried at the next call: the disk may have failed temporarily.
        () => codes.delete(place),
      )
      return code
    },
  })
}
