/**
 * Dependencies of a call, as functions that main passes in. invoke imports neither the registry nor the lanes
 * nor egress, so that each can be read and tested alone.
 */
import type { CapabilityName } from '../contract/capabilities/capabilities.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import type { OAuthCapability } from '../contract/connector/oauth.ts'
import type { CallSecrets } from '../contract/connector/secrets.ts'
import type { UpstreamRecord } from '../contract/connector/upstream-record.ts'
import type { RuntimeError } from '../contract/errors/errors.ts'
import type { Position } from '../contract/errors/position.ts'
import type { Ceilings } from '../contract/limits/ceilings.ts'
import type { ReplyLimits } from '../contract/limits/reply-limits.ts'
import type { Cause } from '../contract/models/causes.ts'
import type { AnySchema } from '../contract/schema/shape.ts'
import type {
  FetchReply,
  FetchRequest,
  LaneCall,
  LaneReply,
  RequireServed,
} from '../protocol/lane-call.ts'
import type { LoadedConnector } from '../protocol/loaded.ts'
import type { ConcurrencyLimit } from './concurrency.ts'
import type { PageTokens } from './page-token.ts'
import type { Performing } from './performing.ts'

export type Invocation = {
  connectorId: string
  capability: string
  /** Body of the request. */
  text: string
  requestId: string
  /** Aborted when the caller hangs up. */
  signal: AbortSignal
  /** Set if the answer is parsed in the host instead of being sent to a caller. */
  limits?: ReplyLimits
  /** If the answer is parsed here: the members of listed rows that are read; all by default. */
  columns?: readonly string[]
}

/**
 * Bytes of the answer, and the version that served it. `isTable`: the response is a table
 * (protocol/tables.ts).
 */
export type Answer = { body: Buffer; served: string; isTable?: boolean }

/** A served connector version. */
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

export type OpenedEgress = {
  fetch(request: FetchRequest): Promise<FetchReply>
  records: readonly UpstreamRecord[]
  hasWritten(): boolean
}

/** Logs a line of a connector, redacted. */
export type CallLog = (line: {
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  fields: unknown
  connector: string
  capability: string
  requestId: string
}) => void

/** Result of a call. */
export type CallEnd = {
  connector: string
  capability: string
  /**
   * True if connector and capability exist. Otherwise the names come from the caller, who may invent any
   * number of them.
   */
  known: boolean
  /** Version that answered, as `acme@1.0.0`; for a failed call the routed one. Null if unknown. */
  served: string | null
  /** Null for a successful call. */
  error: RuntimeError | null
  seconds: number
  requestId: string
  cause: Cause
  /** App of the core that made the call; null if none. */
  appId: string | null
}

/** A capability that the host carries out itself, as the manifest declares. */
type PerformedCall = {
  version: ServedVersion
  capability: OAuthCapability
  request: unknown
  settings: Record<string, unknown>
  requestId: string
  /** Ends the call. Its reason is a RuntimeError. */
  signal: AbortSignal
  /** Deadline of the call, in milliseconds since the epoch. */
  endMs: number
  redact(text: string): string
}

export type InvokeDeps = {
  find(id: string): ServedVersion | null
  /** Reports whether connectors are being discovered: an unknown one may appear soon. */
  isLooking?(): boolean
  /**
   * Version on which started page sequences may finish, if no version is routed. New calls may not use it.
   */
  ending?(id: string): ServedVersion | null
  /** Returns the version that started a page sequence, even if it is no longer routed. */
  byDigest(id: string, digest: string): ServedVersion | null | Promise<ServedVersion | null>
  run(lane: string, call: LaneCall): Promise<LaneReply>
  /** Omitted if the operator cannot end calls. */
  requireServed?: RequireServed
  /** Calls outside the lanes that `requireServed` may end. */
  performing?: Performing
  openEgress(call: {
    version: ServedVersion
    capability: CapabilityName
    /** Tenant, as the digest of settings and credentials. */
    tenant: string
    settings: Record<string, unknown>
    signal: AbortSignal
    /** Deadline of the call, in milliseconds since the epoch. */
    endMs: number
    governorKey(): string
    /** Removes the call's secrets from reports of a request. */
    redact(text: string): string
    /** Secrets behind the placeholders of the sandbox. */
    secrets: CallSecrets
  }): OpenedEgress
  /** Carries out an OAuth capability. @throws RuntimeError */
  performOAuth(call: PerformedCall): Promise<{ response: object; raw: object | null }>
  pageTokens: PageTokens
  /** Returns the position in the author's files, such as `connector.ts:31:12`, or null if unknown. */
  locate(digest: string, at: readonly Position[]): Promise<string | null>
  /** Set if waiting calls are counted. */
  turns?: ConcurrencyLimit
  ceilings: Ceilings
  log: CallLog
  onUpstream(
    version: ServedVersion,
    capability: CapabilityName,
    record: UpstreamRecord,
    requestId: string,
  ): void
}
