/** State of a call that a lane runs. */
import type { RuntimeError } from '../contract/errors/errors.ts'
import type { CallerSignal, LaneCall, LaneReply } from '../protocol/lane-call.ts'
import type { LoadedConnector } from '../protocol/loaded.ts'
import type { LaneWorker } from './lane-worker.ts'

/** Ends a call before its answer. Its isolate takes no further calls, because its code may still run. */
export type Cut = (error?: RuntimeError) => void

/** A call with an isolate. */
export type Pending = {
  id: number
  errand: Errand
  isolate: number
  worker: LaneWorker
  /** The call was sent to the worker. */
  sent: boolean
  /** It keeps its isolate although its caller has hung up. */
  orphaned: boolean
  settle(result: LaneReply | string[] | RuntimeError): void
  cut: Cut
  fetch: LaneCall['fetch'] | null
  log: LaneCall['log'] | null
  logLines: number
  /** Open requests of the call, aborted when it ends; null before the first. */
  requests: Map<number, AbortController> | null
  fetches: number
  fetchErrors: Map<number, RuntimeError> | null
}

/** Differences between a call and a description, which has no capability. */
export type Errand = {
  connector: LoadedConnector
  version?: LaneCall['version']
  capability: LaneCall['capability'] | null
  isolateKey: string
  deadlineMs: number
  signal: CallerSignal | null
  fetch: LaneCall['fetch'] | null
  hasWritten?: LaneCall['hasWritten']
  log: LaneCall['log'] | null
}
