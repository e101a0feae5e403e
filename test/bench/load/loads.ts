/** Loads that run in processes of their own, so that measuring does not slow down this one. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

export type Target = { path: string; body: string }

/** Callers that wait for their answers, for a number of seconds or calls. */
export type ClosedLoad = {
  /** Origin of the server. */
  url: string
  /** Called in turn. */
  targets: readonly Target[]
  callers: number
  seconds?: number
  calls?: number
}

/** Calls that are sent at fixed times, even if others are waiting. */
export type OpenLoad = {
  url: string
  targets: readonly Target[]
  perSecond: number
  seconds: number
}

/** Latencies in milliseconds. A call without an answer, or with an error, has failed. */
export type Figures = {
  calls: number
  /** All calls, including those that warmed up the generator. */
  sent: number
  perSecond: number
  p50: number
  p99: number
  failed: number
}

/** `lateP99` is the delay of the generator itself, which is part of all its latencies. */
export type OpenFigures = Omit<Figures, 'perSecond' | 'sent'> & { lateP99: number }

export const closedLoad = (load: ClosedLoad, signal: AbortSignal): Promise<Figures> =>
  generate('closed.ts', load, signal)

export const openLoad = (load: OpenLoad, signal: AbortSignal): Promise<OpenFigures> =>
  generate('open.ts', load, signal)

async function generate<F>(file: string, load: object, signal: AbortSignal): Promise<F> {
  const args = [path.join(import.meta.dirname, file), JSON.stringify(load)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { signal })
  return JSON.parse(stdout)
}
