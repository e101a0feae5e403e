/** One version of a connector, as it is served: frozen data, made once. */
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
  /** The id in its one spelling: what routes are keyed by. */
  readonly key: string
  readonly version: string
  readonly digest: string
  readonly manifest: Manifest
  /** The lane that its calls run in. */
  readonly lane: string
  readonly builtIn: boolean
  readonly settings: AnySchema
  /** The schema of a capability's request, or null where the connector does not implement it. */
  request(capability: CapabilityName): AnySchema | null
  /** What a worker loads; read from the store at the first call. */
  load(): Promise<LoadedConnector>
}

/** The lanes that trusted connectors share. */
const BUILT_IN_LANE = 'built-in'
const TRUSTED_LANE = 'trusted'

/** Where a version comes from; who is trusted shares a lane with others of the same. */
type Origin = 'built-in' | 'trusted' | 'stranger'

const LANES: Record<Origin, string | null> = {
  'built-in': BUILT_IN_LANE,
  trusted: TRUSTED_LANE,
  stranger: null,
}

/** Code that was read, by version: with grants of its own a version of the same files is another one. */
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
    // Made when they are asked for: of a thousand connectors few are called.
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
        // Tried again at the next call: the disk may have had a bad moment.
        () => codes.delete(place),
      )
      return code
    },
  })
}
