import { readFileSync } from 'node:fs'

/**
 * Waits until something is so, looking every 20 ms, and gives what was found. The bound is patience
 * for a loaded machine, not a promise.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  patienceMs = 20_000,
): Promise<T> {
  const endMs = performance.now() + patienceMs
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() > endMs) throw new Error(`still not after ${patienceMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Whether a process is there; a zombie is not. */
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
    // Gone between the two looks.
    return false
  }
}
