/**
 * Reads `postmaster.pid` and verifies it. A pid file outlives a crash, and after a restart of the machine its
 * pid may belong to any process. It is trusted only if that process runs on this very data directory.
 */
import { readFile, readlink, rm } from 'node:fs/promises'
import path from 'node:path'
import { codeOf, ifMissing } from '../contract/errors/thrown.ts'

/** Maximum time of each of the two ways to shut down, in milliseconds. */
const STOP_MS = 20_000

/** Returns the pid of a live server of this data directory, or null. */
export async function livePostmaster(cluster: string): Promise<number | null> {
  const text = await readOrNull(path.join(cluster, 'postmaster.pid'))
  const pid = Number.parseInt(text ?? '', 10)
  if (!Number.isSafeInteger(pid) || pid <= 1) return null
  return (await runsOn(pid, cluster)) ? pid : null
}

/** Prepares a start: stops a server that an earlier host left running and removes an invalid pid file. */
export async function clearPostmaster(
  cluster: string,
  tell: (text: string) => void,
): Promise<void> {
  const pid = await livePostmaster(cluster)
  if (pid !== null) {
    tell(`stopping the database server ${pid} that was left behind`)
    await stopServer(
      (signal) => process.kill(pid, signal),
      () => gone(pid, cluster),
    )
    if (await runsOn(pid, cluster))
      throw new Error(`the database server ${pid} does not stop; end it by hand`)
  }
  await rm(path.join(cluster, 'postmaster.pid'), { force: true })
}

/**
 * Stops a server. Its sessions are ended, and everything acknowledged is kept. A server that cannot shut down
 * cleanly (seen after a crash by a full disk) is ended at once. It recovers at its next start.
 */
export async function stopServer(
  kill: (signal: NodeJS.Signals) => void,
  ended: () => Promise<unknown>,
): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    kill(signal)
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), STOP_MS)
    })
    const isOver = ended().then(() => 'over' as const)
    const how = await Promise.race([isOver, patience])
    clearTimeout(timer)
    if (how === 'over') return
  }
}

async function gone(pid: number, cluster: string): Promise<void> {
  // Longer than any caller waits.
  const endMs = Date.now() + 2 * STOP_MS
  while (Date.now() < endMs && (await runsOn(pid, cluster)))
    await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Reports whether a process is a server of this data directory: a server works in its data directory. */
export async function runsOn(pid: number, cluster: string): Promise<boolean> {
  try {
    if (process.platform === 'linux') {
      const state = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '')[0]
      // A zombie only holds its pid.
      if (state === 'Z') return false
      return (await readlink(`/proc/${pid}/cwd`)) === cluster
    }
    process.kill(pid, 0)
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return false
    throw error
  }
}

const readOrNull = (file: string): Promise<string | null> =>
  readFile(file, 'utf8').catch(ifMissing(null))
