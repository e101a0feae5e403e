/** Checks the data directory before anything is created in it. Errors name the owner of the directory. */
import { constants } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { ConfigError } from '../config/config.ts'
import { codeOf, errorOf } from '../contract/errors/thrown.ts'

/** Files and folders there that only the host's own user may access. */
const KEPT = ['secret', 'admin-token', 'database-password', 'host.lock', 'run', 'connectors']

/**
 * Creates the directory if it is missing, and checks that it can be used.
 *
 * @throws ConfigError with instructions if it cannot be used
 */
export async function openDataDir(dataDir: string): Promise<void> {
  try {
    await makeFolder(path.resolve(dataDir))
  } catch (error) {
    throw await refused(dataDir, errorOf(error))
  }
  for (const file of [dataDir, ...KEPT.map((name) => path.join(dataDir, name))]) {
    const isFolder = file === dataDir
    const mode = constants.R_OK | constants.W_OK | (isFolder ? constants.X_OK : 0)
    await access(file, mode).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && !isFolder) return
      throw await refused(file, error)
    })
  }
}

/**
 * Like `mkdir -p`. Node's recursive mkdir never returns if creation under an existing folder fails with
 * ENOENT, as in /proc.
 */
async function makeFolder(at: string): Promise<void> {
  const found = await stat(at).catch(() => null)
  if (found?.isDirectory()) return
  const parent = path.dirname(at)
  if (found === null && parent !== at) await makeFolder(parent)
  await mkdir(at, { mode: 0o700 }).catch(async (error: unknown) => {
    // Another process may have created it in the meantime.
    const made = codeOf(error) === 'EEXIST' && (await stat(at)).isDirectory()
    if (!made) throw error
  })
}

async function refused(file: string, error: NodeJS.ErrnoException): Promise<ConfigError> {
  return new ConfigError(`KEYWAY_DATA_DIR: ${await wordsOf(file, error)}`, { cause: error })
}

async function wordsOf(file: string, { code, message }: NodeJS.ErrnoException): Promise<string> {
  const near = await nearest(file)
  if (near !== null && !near.isDirectory && (code === 'EEXIST' || code === 'ENOTDIR'))
    return `${near.at} is a file, not a directory; remove it, or name another directory`
  switch (code) {
    case 'EACCES':
    case 'EPERM': {
      const what =
        near === null ? `${file} cannot be used` : `${near.at} belongs to user ${near.uid}`
      const [owner, own] = [near?.uid ?? 'its user', process.getuid?.() ?? 'another']
      if (owner === own)
        return `${near?.at} belongs to user ${own}, who this runs as, and refuses it all the same (${code}); allow it (\`chmod u+rwX ${near?.at}\`), or name another directory`
      return `${what}, and this runs as user ${own}, who may not use it; run it as user ${owner}, give it away (\`chown -R ${own} ${near?.at ?? file}\`), or name another directory`
    }
    case 'EROFS':
      return `${file} is on a disk that can only be read; name another directory, or mount it for writing`
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk of ${file} is full; make room, or name a directory on another disk`
    default:
      return `${file} cannot be used: ${message}; name another directory`
  }
}

/** Returns the deepest existing part of a path, which is the obstacle. */
async function nearest(file: string) {
  for (let at = path.resolve(file); ; at = path.dirname(at)) {
    const found = await stat(at).catch(() => null)
    if (found) return { at, uid: found.uid, isDirectory: found.isDirectory() }
    if (at === path.dirname(at)) return null
  }
}
