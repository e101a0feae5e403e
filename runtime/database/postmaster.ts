/**
 * What `postmaster.pid` says, and whether it is true. A pid file outlives a crash, and after a restart
 * of the machine its number may belong to anybody: it is believed only when the process that bears it
 * runs on this very data directory.
 */
import { readFile, readlink, rm } from 'node:fs/promises'
import path from 'node:path'

/** How long a server that was left behind may take to shut down, in milliseconds. */
const STOP_MS = 20_000

/** The pid of a live server of this data directory, or null. */
export async function livePostmaster(cluster: string): Promise<number | null> {
  const text = await readOrNull(path.join(cluster, 'postmaster.pid'))
  const pid = Number.parseInt(text ?? '', 10)
  if (!Number.isSafeInteger(pid) || pid <= 1) return null
  return (await runsOn(pid, cluster)) ? pid : null
}

/**
 * Clears the way for a start: stops a server that an earlier host left behind, removes a pid file that
 * is not true.
 */
export async function clearPostmaster(
  cluster: string,
  tell: (text: string) => void,
): Promise<void> {
  const pid = await livePostmaster(cluster)
  if (pid !== null) {
    tell(`stopping the database server ${pid} that was left behind`)
    // Fast shutdown: sessions are ended, everything acknowledged is kept.
    process.kill(pid, 'SIGINT')
    await gone(pid, cluster)
  }
  await rm(path.join(cluster, 'postmaster.pid'), { force: true })
}

async function gone(pid: number, cluster: string): Promise<void> {
  const endMs = Date.now() + STOP_MS
  while (await runsOn(pid, cluster)) {
    if (Date.now() > endMs)
      throw new Error(`the database server ${pid} does not stop; end it by hand`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Whether a process is a server of this data directory: a server works in its data directory. */
async function runsOn(pid: number, cluster: string): Promise<boolean> {
  try {
    if (process.platform === 'linux') {
      const state = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '')[0]
      // A zombie holds a pid but nothing else.
      if (state === 'Z') return false
      return (await readlink(`/proc/${pid}/cwd`)) === cluster
    }
    process.kill(pid, 0)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return false
    throw error
  }
}

async function readOrNull(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
