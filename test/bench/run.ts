/** The input of every part of the benchmark. */
import type { Findings } from './findings.ts'

export type Run = {
  /** How often each measurement is made. The median is reported. */
  rounds: number
  /** Length of one measurement under load, in seconds. */
  seconds: number
  /** Number of calls in a measurement that is limited by calls. */
  calls: number
  /** Numbers of installed connectors. The others are compared with the first. */
  sizes: readonly number[]
  /** A folder of this run, removed afterwards. */
  home: string
  /** Aborted when the run is interrupted, which ends every process that it started. */
  signal: AbortSignal
  /** Prints progress to the terminal. */
  tell(text: string): void
}

export type Part = {
  title: string
  /** The length of the measurements of a run, as text. */
  length(run: Run): string
  measure(run: Run): Promise<Findings>
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))
