/** Temporary folders of commands, which are removed even if a command is interrupted. */
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import path from 'node:path'

type TemporaryFolder = {
  /** Real path of the folder. */
  path: string
  remove(): Promise<void>
}

/** A process that was just stopped may still write to the folder. */
const REMOVING = { recursive: true, force: true, maxRetries: 10 } as const

/**
 * Time that a folder must stay removed at the exit, in milliseconds, and maximum number of attempts to remove
 * it.
 */
const AWAY_MS = 50
const MAX_ATTEMPTS = 50

/** Creates `keyway-NAME-*`. It is removed by `remove`, or when the process exits. */
export function temporaryFolder(name: string): TemporaryFolder {
  // Synchronously: a signal between two steps would leave the folder behind.
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

/**
 * Removes a folder, and again if it reappears: a thread of Node's pool may still be running a `mkdir -p` in
 * it.
 */
function removeAtExit(folder: string): void {
  const clock = new Int32Array(new SharedArrayBuffer(4))
  for (let times = 0; times < MAX_ATTEMPTS; times += 1) {
    rmSync(folder, REMOVING)
    Atomics.wait(clock, 0, 0, AWAY_MS)
    if (!existsSync(folder)) return
  }
}

/**
 * Makes signals exit the process. By default they kill it without the `exit` event, and temporary folders
 * stay.
 */
export function exitOnSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
}
