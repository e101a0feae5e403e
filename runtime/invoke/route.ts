/** Finds the version and the capability of a call. */
import { type CapabilityName, isCapability } from '../contract/capabilities/capabilities.ts'
import { normalizeId } from '../contract/connector/manifest.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import type { AnySchema } from '../contract/schema/shape.ts'
import type { Invocation, InvokeDeps, ServedVersion } from './ports.ts'

export type Route = {
  version: ServedVersion
  capability: CapabilityName
  /** Schema of the capability's request. */
  request: AnySchema
  /** The version is being retired. Only started page sequences may continue. */
  isEnding: boolean
}

/**
 * Returns the version and capability of a call, checked in the order of connector-interface.md section 1.1.
 *
 * @throws connector_unknown, capability_unknown, capability_missing
 */
export function route(
  { find, ending, isLooking }: Pick<InvokeDeps, 'find' | 'ending' | 'isLooking'>,
  { connectorId, capability: asked }: Pick<Invocation, 'connectorId' | 'capability'>,
): Route {
  const served = find(connectorId)
  const version = served ?? ending?.(connectorId) ?? null
  if (!version) throw unknownConnector(connectorId, isLooking?.())
  const capability = normalizeId(asked)
  if (!isCapability(capability))
    throw new RuntimeError(
      'capability_unknown',
      `there is no capability ${JSON.stringify(asked.slice(0, 64))}`,
    )
  const request = version.request(capability)
  if (!request)
    throw new RuntimeError('capability_missing', `${version.id} does not implement ${capability}`)
  return { version, capability, request, isEnding: served === null }
}

/** Returns the error for a connector that does not exist, was removed, or is not yet discovered. */
export function unknownConnector(id: string, isLooking = false): RuntimeError {
  const named = `there is no connector ${JSON.stringify(id.slice(0, 64))}`
  return new RuntimeError(
    'connector_unknown',
    isLooking
      ? `${named} yet: connectors are still being looked up; try again once GET /readyz says that the host is ready`
      : named,
  )
}
