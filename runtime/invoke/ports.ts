/**
 * What a call needs of the rest of the host, as functions that main hands in: invoke imports neither
 * the registry nor the lanes nor egress, so each can be read and tested without the others.
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
  DemandServed,
  FetchReply,
  FetchRequest,
  LaneCall,
  LaneReply,
} from '../protocol/lane-call.ts'
import type { LoadedConnector } from '../protocol/loaded.ts'
import type { ConcurrencyLimit } from './concurrency.ts'
import type { PageTokens } from './page-token.ts'
import type { Performing } from './performing.ts'

export type Invocation = {
  connectorId: string
  capability: string
  /** The request's body. */
  text: string
  requestId: string
  /** Aborted when the caller hangs up. */
  signal: AbortSignal
  /** Where the answer is not for a caller, but parsed here. */
  limits?: ReplyLimits
  /** If the answer is parsed here: the members of listed rows that are read; all if not given. */
  columns?: readonly string[]
}

/** The answer's bytes, and which version gave it. `isTable`: its response is one (protocol/tables.ts). */
export type Answer = { body: Buffer; served: string; isTable?: boolean }

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

/** How a call ended. */
export type CallEnd = {
  connector: string
  capability: string
  /** Both are names that there are; else they are the caller's, who may invent any number of them. */
  known: boolean
  /** The version that answered, as `acme@1.0.0`; of a failed call the one that calls went to. Null where that is not known. */
  served: string | null
  /** Null for an answer. */
  error: RuntimeError | null
  seconds: number
  requestId: string
  cause: Cause
  /** The app of the core that it was for; null where it was for none. */
  appId: string | null
}

/** A capability that the host carries out itself, by the manifest's declaration. */
type PerformedCall = {
  version: ServedVersion
  capability: OAuthCapability
  request: unknown
  settings: Record<string, unknown>
  requestId: string
  /** Ends the call; its reason is a RuntimeError. */
  signal: AbortSignal
  /** When that is, at the latest, in milliseconds since the epoch. */
  endMs: number
  redact(text: string): string
}

export type InvokeDeps = {
  find(id: string): ServedVersion | null
  /** Whether connectors are being looked up: one that is not found may be there in a moment. */
  isLooking?(): boolean
  /** Where there is none: what page sequences that have begun may end on, new calls not. */
  ending?(id: string): ServedVersion | null
  /** A version that began a page sequence, also when it is no longer routed to. */
  byDigest(id: string, digest: string): ServedVersion | null | Promise<ServedVersion | null>
  run(lane: string, call: LaneCall): Promise<LaneReply>
  /** Left out where the operator cannot end calls. */
  demandServed?: DemandServed
  /** Calls outside the lanes that `demandServed` may end. */
  performing?: Performing
  openEgress(call: {
    version: ServedVersion
    capability: CapabilityName
    /** Whose call it is, by the digest of settings and credentials. */
    tenant: string
    settings: Record<string, unknown>
    signal: AbortSignal
    /** When the call ends, in milliseconds since the epoch. */
    endMs: number
    governorKey(): string
    /** Removes the call's secrets from what is reported of a request. */
    redact(text: string): string
    /** What stands behind the placeholders that the sandbox got. */
    secrets: CallSecrets
  }): OpenedEgress
  /** @throws RuntimeError */
  performOAuth(call: PerformedCall): Promise<{ response: object; raw: object | null }>
  pageTokens: PageTokens
  /** Names the place in the author's files, such as `connector.ts:31:12`, or null where it is unknown. */
  locate(digest: string, at: readonly Position[]): Promise<string | null>
  /** Handed in if waiting calls are counted. */
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
