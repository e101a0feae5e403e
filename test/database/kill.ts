import { readFileSync } from 'node:fs'

/**
 * Kills an embedded server and all its sessions. If only the server were killed, its sessions might still
 * answer a query in progress.
 */
export const killDatabase = (pid: number | null): void => signalDatabase(pid, 'SIGKILL')

/** Sends a signal to an embedded server and to all its sessions. */
export function signalDatabase(pid: number | null, signal: NodeJS.Signals): void {
  if (pid === null) throw new Error('there is no embedded server')
  const sessions = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []
  process.kill(pid, signal)
  for (const session of sessions) {
    try {
      process.kill(Number(session), signal)
    } catch (error) {
      // The session has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
