/** A connector version as a worker gets it. */
import type { Fields } from '../contract/connector/settings.ts'

export type LoadedConnector = {
  id: string
  /** Digest of the package: the name by which the worker knows it. */
  digest: string
  /** The bundle: one script. */
  code: string
  memoryMb: number
  /** Response fields of the connector's own, by capability. */
  responseFields: Record<string, Fields>
}
