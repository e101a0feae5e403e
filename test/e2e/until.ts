import { readFileSync } from 'node:fs'
import { PATIENCE_MS } from '../kit/patience.ts'

/** Pauses between two checks, in milliseconds: they grow, since a check may be expensive. */
const FIRST_PAUSE_MS = 10
const MAX_PAUSE_MS = 100

/**
 * Waits until a check succeeds, and returns its result. The limit is patience for a loaded machine, not a
 * guarantee.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const endMs = performance.now() + patienceMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS)) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() > endMs) throw new Error(`timed out after ${patienceMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** Whether a process is alive; a zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    // It ended between the two checks.
    return false
  }
}
