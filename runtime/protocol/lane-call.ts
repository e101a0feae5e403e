/**
 * One call on its way through a lane, and its requests: passed from invoke to lanes, and from lanes to the
 * performer of requests. Defined here because neither side may import the other.
 */
import type { CapabilityName } from '../contract/capabilities/capabilities.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import type { RuntimeError } from '../contract/errors/errors.ts'
import type { ReplyLimits } from '../contract/limits/reply-limits.ts'
import type { Heads, Reply } from './frames.ts'
import type { LoadedConnector } from './loaded.ts'

/** Request of a guest to the network. */
export type FetchRequest = Omit<Heads['fetch'], 'request' | 'hasBody'> & {
  body: Buffer | null
  /** Ends this one request. */
  signal: AbortSignal
}

/** Reply to a guest: the upstream's answer, complete and decoded. */
export type FetchReply = {
  status: number
  /** URL of the last hop. */
  url: string
  redirected: boolean
  headers: [string, string][]
  body: Buffer
}

/** The part of AbortSignal that a call needs; aborted when the caller disconnects. */
export type CallerSignal = {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { once: true }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Called once with the result. */
export type Done<T> = (ended: T | RuntimeError) => void

/** Version of a connector that a call began on. The operator may withdraw it. */
export type BegunVersion = { key: string; digest: string; manifest: Manifest }

/**
 * Throws if the operator has withdrawn the version or its capability since the call began.
 *
 * @throws RuntimeError
 */
export type RequireServed = (version: BegunVersion, capability: CapabilityName) => void

export type LaneCall = {
  connector: LoadedConnector
  /** Its withdrawal by the operator ends the call. Absent if nothing can be withdrawn. */
  version?: BegunVersion | undefined
  /** Digest of settings and credentials. It selects the tenant's isolate. */
  isolateKey: string
  capability: CapabilityName
  /** Request, settings, credentials and page, as passed to the guest. */
  callJson: string
  raw: boolean
  /** Set for calls of the core, whose replies must be smaller than those of other callers. */
  limits?: ReplyLimits | undefined
  /** Time until the answer is due, in milliseconds from now. */
  deadlineMs: number
  /** Aborted when the caller disconnects. */
  signal: CallerSignal
  fetch(request: FetchRequest): Promise<FetchReply>
  /**
   * Reports whether any request other than GET or HEAD was sent for this call. Then it must not run again.
   */
  hasWritten(): boolean
  log(line: Heads['log']): void
}

/**
 * Reply of the guest: head and body of its message, and the fetch error that the handler did not catch, if
 * any.
 */
export type LaneReply = {
  reply: Reply
  body: Buffer
  /** Whether the body is the complete envelope of a response without raw data and without a next page. */
  isEnvelope: boolean
  fetchError: RuntimeError | null
}
