/** The connectors that the host has sent to this worker, and the reply schemas of each. */

import { isCapability } from '../contract/capabilities/capabilities.ts'
import { responseSchema } from '../contract/connector/payload.ts'
import type { Fields } from '../contract/connector/settings.ts'
import type { AnySchema } from '../contract/schema/shape.ts'
import type { GuestSource } from './guest-isolate.ts'

export type Connector = {
  source: GuestSource
  memoryMb: number
  /** Returns the schema of a capability's response, or null if there is no such capability. */
  schema(capability: string): AnySchema | null
  /**
   * Reports whether the connector has widened the response. The contract's writers do not know the added
   * fields.
   */
  widens(capability: string): boolean
}

/** Keeps a bundle. Schemas are made on first use. */
export function createConnector(
  name: string,
  code: string,
  memoryMb: number,
  responseFields: Record<string, unknown>,
): Connector {
  const schemas = new Map<string, AnySchema>()
  return {
    source: { code, name: `${name}.js`, cached: null },
    memoryMb,
    widens: (capability) => Object.hasOwn(responseFields, capability),
    schema(capability) {
      if (!isCapability(capability)) return null
      const known = schemas.get(capability)
      if (known) return known
      // The cast: the host sends fields that the manifest's schema has parsed.
      const made = responseSchema(capability, responseFields[capability] as Fields | undefined)
      schemas.set(capability, made)
      return made
    },
  }
}
