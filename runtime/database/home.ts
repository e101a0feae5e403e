/**
 * Where the embedded server lives and who it runs as. PostgreSQL refuses to run as root, and the
 * checkout of root is often closed to everybody else, so root's server is `nobody` in a place of its own.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Owner } from './binaries.ts'

export type Home = {
  /** Holds the copy of the programs. */
  programs: string
  /** The server's data directory. */
  cluster: string
  /** Holds the server's socket; mode 0700. */
  socket: string
  owner: Owner | null
}

/** Longest path of a Unix socket, in bytes (sun_path, its end mark not counted). */
const MAX_SOCKET_PATH = 107
/** What PostgreSQL puts behind the folder. */
const SOCKET_NAME = '/.s.PGSQL.5432'

/** `nobody` of every Linux distribution and of macOS's BSD side. */
const NOBODY: Owner = { uid: 65_534, gid: 65_534 }

/** In the data directory of root: which of the places is its own. */
const PLACE_FILE = 'database-place'
/** In such a place: the data directory that it belongs to. */
const OWNER_FILE = 'data-directory'

/**
 * Where the server that belongs to a data directory is, or would be. A place outside the data directory
 * is named by what lies in it and not by its path: a directory that was removed and made again is a new one.
 */
export function homeOf(dataDir: string): Home {
  const root = process.getuid?.() === 0
  const id = (root && placeOf(dataDir)) || digest(dataDir)
  const base = root ? path.join('/var/lib/keyway', id) : path.join(dataDir, 'postgres')
  const near = path.join(base, 'socket')
  const fits = Buffer.byteLength(near + SOCKET_NAME) <= MAX_SOCKET_PATH
  return {
    programs: root ? '/var/lib/keyway' : base,
    cluster: path.join(base, 'cluster'),
    socket: fits ? near : path.join(tmpdir(), `keyway-${id}`),
    owner: root ? NOBODY : null,
  }
}

/**
 * Makes the folders of the server that belongs to a data directory.
 *
 * @throws Error when the directory is a copy of another that is still there: both would be one database.
 */
export async function prepareHome(dataDir: string): Promise<Home> {
  const isRoot = process.getuid?.() === 0
  if (isRoot && placeOf(dataDir) === null) {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    await writeFile(path.join(dataDir, PLACE_FILE), randomBytes(8).toString('hex'), { mode: 0o600 })
  }
  const home = homeOf(dataDir)
  const base = path.dirname(home.cluster)
  await mkdir(base, { recursive: true, mode: home.owner ? 0o711 : 0o700 })
  if (isRoot) await claim(base, dataDir)
  await ownFolder(home.cluster, home.owner)
  await ownFolder(home.socket, home.owner)
  return home
}

function placeOf(dataDir: string): string | null {
  try {
    const text = readFileSync(path.join(dataDir, PLACE_FILE), 'utf8').trim()
    // It becomes part of a path.
    return /^[0-9a-f]{16}$/.test(text) ? text : null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function claim(base: string, dataDir: string): Promise<void> {
  const file = path.join(base, OWNER_FILE)
  const before = await readFile(file, 'utf8').catch(() => dataDir)
  if (before !== dataDir && placeOf(before) === placeOf(dataDir)) {
    throw new Error(
      `KEYWAY_DATA_DIR: ${dataDir} is a copy of ${before}, and both name the database in ${base}; remove ${path.join(dataDir, PLACE_FILE)} and use \`keyway backup\` and \`keyway restore\` to copy it`,
    )
  }
  await writeFile(file, dataDir)
}

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Made means whole: this mark is written last, by us. */
export const markOf = ({ cluster }: Home): string => path.join(cluster, 'keyway.made')

export async function isMade(home: Home): Promise<boolean> {
  return stat(markOf(home)).then(
    () => true,
    () => false,
  )
}

/** Makes a folder that only the server's user may enter. */
export async function ownFolder(folder: string, owner: Owner | null): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (owner) await chown(folder, owner.uid, owner.gid)
}
