/**
 * Permits one host per data directory: two would damage one cluster. The lock is a file with the holder's pid
 * and the start time of its process, so that a reused pid holds nothing.
 */
import { mkdir, open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../contract/errors/thrown.ts'

/** Thrown if another host uses the data directory. The message names it. */
export class DataDirInUseError extends Error {}

/** Takes the lock. The returned function releases it. A crash releases it too. */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const file = path.join(dataDir, 'host.lock')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  for (let tries = 0; ; tries += 1) {
    try {
      const handle = await open(file, 'wx', 0o600)
      await handle.writeFile(`${process.pid} ${await birth(process.pid)}\n`)
      await handle.close()
      return () => rm(file, { force: true })
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const holder = await liveHolder(file)
    if (holder !== null) {
      throw new DataDirInUseError(
        `KEYWAY_DATA_DIR: ${dataDir} is used by the process ${holder}; stop it, or choose another directory`,
      )
    }
    if (tries > 5) throw new Error(`${file} cannot be taken`)
    await rm(file, { force: true })
  }
}

async function liveHolder(file: string): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const [pid = '', born = ''] = text.trim().split(' ')
  const number = Number.parseInt(pid, 10)
  if (!Number.isSafeInteger(number) || number <= 1) return null
  const now = await birth(number)
  return now !== null && now === born ? number : null
}

/** Returns the start time of a process in the system's own ticks, or null if there is no such process. */
async function birth(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') {
    try {
      process.kill(pid, 0)
      return 'alive'
    } catch {
      // No such process.
      return null
    }
  }
  try {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    // No such process.
    return null
  }
}
