/** Temporary folders of commands, which also go when a command is interrupted. */
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import path from 'node:path'

type TemporaryFolder = {
  /** Its real path. */
  path: string
  remove(): Promise<void>
}

/** Something that was just stopped may still write there. */
const REMOVING = { recursive: true, force: true, maxRetries: 10 } as const

/** How long a folder that was removed at the exit must stay away, in milliseconds, and how often it is removed at most. */
const AWAY_MS = 50
const MOST_TIMES = 50

/** Makes `keyway-NAME-*`. It is removed by `remove`, or at the exit of the process. */
export function temporaryFolder(name: string): TemporaryFolder {
  // In one go: a signal that came between would leave it.
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), `keyway-${name}-`)))
  const removeNow = () => removeAtExit(made)
  process.once('exit', removeNow)
  return {
    path: made,
    async remove() {
      await rm(made, REMOVING)
      process.off('exit', removeNow)
    },
  }
}

/** Removes a folder, and again if it comes back: a thread of Node's pool may still be running a `mkdir -p` in it. */
function removeAtExit(folder: string): void {
  const clock = new Int32Array(new SharedArrayBuffer(4))
  for (let times = 0; times < MOST_TIMES; times += 1) {
    rmSync(folder, REMOVING)
    Atomics.wait(clock, 0, 0, AWAY_MS)
    if (!existsSync(folder)) return
  }
}

/** Makes signals exit the process: by default they end it without an exit, and temporary folders stay. */
export function exitOnSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
}
