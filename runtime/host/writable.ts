/**
 * Checks every two seconds that the data directory can be written to, so that a full disk shows before it
 * does harm.
 */
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Interval between two checks, in milliseconds. */
const LOOK_MS = 2000
/** Size of the test file in bytes: room for a small write. */
const PROBE_BYTES = 65_536

type WritableWatch = {
  /** Returns the problem while the directory cannot be written to, or null. */
  words(): string | null
  stop(): Promise<void>
}

/** Starts checking. Each test file is removed at once. */
export function watchWritable(directory: string): WritableWatch {
  const file = path.join(directory, `writable-${process.pid}`)
  let problem: string | null = null
  let stopped = false
  let timer: NodeJS.Timeout | null = null

  async function look(): Promise<void> {
    try {
      await writeFile(file, Buffer.alloc(PROBE_BYTES), { mode: 0o600 })
      problem = null
    } catch (error) {
      problem = `room in the data directory, which takes no files: ${error instanceof Error ? error.message : String(error)}`
    }
    // The file may exist even if writing it failed.
    await rm(file, { force: true }).catch(() => undefined)
  }

  function again(): void {
    timer = setTimeout(() => {
      looking = look().finally(() => {
        if (!stopped) again()
      })
    }, LOOK_MS)
    timer.unref()
  }

  let looking = look().finally(again)
  return {
    words: () => problem,
    async stop() {
      stopped = true
      if (timer) clearTimeout(timer)
      await looking
      if (timer) clearTimeout(timer)
    },
  }
}
