/** Temporary folders of commands, which also go when a command is interrupted. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
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

/** Makes `keyway-NAME-*`. It is removed by `remove`, or at the exit of the process. */
export function temporaryFolder(name: string): TemporaryFolder {
  // In one go: a signal that came between would leave it.
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), `keyway-${name}-`)))
  const removeNow = () => rmSync(made, REMOVING)
  process.once('exit', removeNow)
  return {
    path: made,
    async remove() {
      await rm(made, REMOVING)
      process.off('exit', removeNow)
    },
  }
}

/** Makes signals exit the process: by default they end it without an exit, and temporary folders stay. */
export function exitOnSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
}
