/** A connector version, as passed to a worker. */
import type { Fields } from '../contract/connector/settings.ts'

export type LoadedConnector = {
  id: string
  /** Digest of the package, by which the worker identifies it. */
  digest: string
  /** Bundle: one script. */
  code: string
  memoryMb: number
  /** Connector-specific response fields, by capability. */
  responseFields: Record<string, Fields>
}
