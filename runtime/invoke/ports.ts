/**
 * What a call needs of the rest of the host, as functions that main hands in: invoke imports neither
 * the registry nor the lanes nor egress, so each can be read and tested without the others.
 */
import type { AnySchema, CapabilityName } from '../contract/capabilities.ts'
import type { FetchReply, FetchRequest, LaneCall, LaneReply } from '../contract/lane-call.ts'
import type { LoadedConnector } from '../contract/loaded.ts'
import type { Manifest } from '../contract/manifest.ts'
import type { Position } from '../contract/position.ts'
import type { PageTokens } from './page-token.ts'

/** A connector version that is being served. */
export type ServedVersion = {
  id: string
  key: string
  version: string
  digest: string
  lane: string
  manifest: Manifest
  settings: AnySchema
  request(capability: CapabilityName): AnySchema | null
  load(): Promise<LoadedConnector>
}

/** One upstream request, as it may be logged: never a query or a body. */
export type UpstreamRecord = {
  method: string
  host: string
  path: string
  status: number | null
  error: string | null
  sentBytes: number
  receivedBytes: number
  ms: number
}

export type OpenedEgress = {
  fetch(request: FetchRequest): Promise<FetchReply>
  records: readonly UpstreamRecord[]
  hasWritten(): boolean
}

/** A log line of a connector, redacted. */
export type CallLog = (line: {
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  fields: unknown
  connector: string
  capability: string
  requestId: string
}) => void

export type InvokeDeps = {
  find(id: string): ServedVersion | null
  /** A version that began a page sequence, also when it is no longer routed to. */
  byDigest(id: string, digest: string): ServedVersion | null | Promise<ServedVersion | null>
  run(lane: string, call: LaneCall): Promise<LaneReply>
  openEgress(call: {
    version: ServedVersion
    capability: CapabilityName
    settings: Record<string, unknown>
    signal: AbortSignal
    /** Takes the call's secrets out of what is told of a request. */
    redact(text: string): string
  }): OpenedEgress
  pageTokens: PageTokens
  /** Names the place in the author's files, such as `connector.ts:31:12`, or null where it is unknown. */
  locate(digest: string, at: readonly Position[]): Promise<string | null>
  /** The operator's ceilings: they win over the manifest's wishes. */
  ceilings: { maxDeadlineMs: number; maxMemoryMb: number; maxConcurrency: number }
  log: CallLog
  onUpstream(
    version: ServedVersion,
    capability: CapabilityName,
    record: UpstreamRecord,
    requestId: string,
  ): void
}
