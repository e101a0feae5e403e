/** Whether the data directory takes files: looked at every two seconds, so that a full disk shows before it hurts. */
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** How often a file is written, in milliseconds. */
const LOOK_MS = 2000
/** Its size in bytes: room that one who writes a little would need. */
const PROBE_BYTES = 65_536

type WritableWatch = {
  /** As text, while it takes none; else null. */
  words(): string | null
  stop(): Promise<void>
}

/** Begins to look; each file is removed at once. */
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
    // What could not be written may have been made all the same.
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
