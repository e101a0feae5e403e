/** What every part of the benchmark is handed. */
import type { Findings } from './findings.ts'

export type Run = {
  /** How often each measurement is made; what is told is the median. */
  rounds: number
  /** Length of one measurement under load, in seconds. */
  seconds: number
  /** Calls of one measurement that counts calls. */
  calls: number
  /** Numbers of installed connectors; the first is what the others are compared with. */
  sizes: readonly number[]
  /** A folder of this run, removed afterwards. */
  home: string
  /** Aborted when a person stops the run: every process it started ends. */
  signal: AbortSignal
  /** Says on a terminal what is under way. */
  tell(text: string): void
}

export type Part = {
  title: string
  /** How long the measurements of a run are, as text. */
  length(run: Run): string
  measure(run: Run): Promise<Findings>
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))
