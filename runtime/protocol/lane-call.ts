/**
 * One call on its way through a lane, and the requests that it makes: what invoke hands to lanes, and
 * lanes to the performer of requests. Once, because neither side may import the other.
 */
import type { CapabilityName } from '../contract/capabilities/capabilities.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import type { RuntimeError } from '../contract/errors/errors.ts'
import type { ReplyLimits } from '../contract/limits/reply-limits.ts'
import type { Heads, Reply } from './frames.ts'
import type { LoadedConnector } from './loaded.ts'

/** What a guest asks of the network. */
export type FetchRequest = Omit<Heads['fetch'], 'request' | 'hasBody'> & {
  body: Buffer | null
  /** Ends this one request. */
  signal: AbortSignal
}

/** What it gets: the upstream's answer, whole and decoded. */
export type FetchReply = {
  status: number
  /** Of the last hop. */
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

/** The version of a connector that a call began on, as far as the operator may take it away. */
export type BegunVersion = { key: string; digest: string; manifest: Manifest }

/** @throws RuntimeError if the operator has taken away the version or its capability since the call began */
export type DemandServed = (version: BegunVersion, capability: CapabilityName) => void

export type LaneCall = {
  connector: LoadedConnector
  /** What is taken away from it ends the call; left out where nothing can be. */
  version?: BegunVersion | undefined
  /** Digest of settings and credentials: which tenant's isolate. */
  isolateKey: string
  capability: CapabilityName
  /** Request, settings, credentials and page, as the guest gets them. */
  callJson: string
  raw: boolean
  /** Where the reply may be less than any caller's. */
  limits?: ReplyLimits | undefined
  /** From now until the answer must be there, in milliseconds. */
  deadlineMs: number
  /** Aborted when the caller hangs up. */
  signal: CallerSignal
  fetch(request: FetchRequest): Promise<FetchReply>
  /** True once anything but GET and HEAD has left for this call: it must not run again. */
  hasWritten(): boolean
  log(line: Heads['log']): void
}

/** The guest's answer: the message's head and bytes; `fetchError` where the handler let one through. */
export type LaneReply = {
  reply: Reply
  body: Buffer
  /** Whether the body is the whole envelope: of a response without raw data and without a next page. */
  isEnvelope: boolean
  fetchError: RuntimeError | null
}
