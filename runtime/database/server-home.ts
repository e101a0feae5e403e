/**
 * Folders and user of the embedded server. PostgreSQL refuses to run as root, so root's server runs as
 * `nobody`.
 */
import { existsSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Owner } from './binaries.ts'
import {
  baseOf,
  claim,
  defaultPlace,
  digest,
  INSIDE,
  markOf,
  NOBODY,
  OUTSIDE,
  ownFolder,
  placeOf,
  recordPlace,
} from './server-place.ts'

export type Home = {
  /** Candidates for the copy of the programs. The first writable one is used. */
  programs: readonly string[]
  /** Data directory of the server. */
  cluster: string
  /** Folder of the server's socket, with mode 0700. */
  socket: string
  owner: Owner | null
}

/** Maximum length of a Unix socket's path, in bytes (sun_path without its end mark). */
const MAX_SOCKET_PATH = 107
/** Name of the socket that PostgreSQL appends to the folder. */
const SOCKET_NAME = '/.s.PGSQL.5432'

export const isRoot = (): boolean => process.getuid?.() === 0

/**
 * Returns the home of the server that belongs to a data directory, whether it exists or not. A place outside
 * of the data directory is named by a file in the data directory and not by its path: a directory that was
 * removed and created again is a new one.
 */
export function homeOf(dataDir: string): Home {
  const root = isRoot()
  const place = root ? (placeOf(dataDir) ?? defaultPlace(dataDir) ?? digest(dataDir)) : INSIDE
  const base = baseOf(dataDir, place)
  const near = path.join(base, 'socket')
  const fits = Buffer.byteLength(near + SOCKET_NAME) <= MAX_SOCKET_PATH
  const id = place === INSIDE ? digest(dataDir) : place
  return {
    programs: root ? [OUTSIDE, base] : [base],
    cluster: path.join(base, 'cluster'),
    socket: fits ? near : path.join(tmpdir(), `keyway-${id}`),
    owner: root ? NOBODY : null,
  }
}

/**
 * Reports whether root's server is outside of its data directory. The data directory is then only half of the
 * data.
 */
export const isOutside = (dataDir: string, { cluster }: Home): boolean =>
  path.dirname(cluster) !== baseOf(dataDir, INSIDE)

/**
 * Creates the folders of the server that belongs to a data directory.
 *
 * @throws Error if the directory is a copy of another one that still exists, because both would share one
 * database; or if the existing database belongs to another user
 */
export async function prepareHome(dataDir: string): Promise<Home> {
  const stranger = ownerMismatchOf(homeOf(dataDir))
  if (stranger !== null) throw new Error(stranger)
  if (isRoot() && placeOf(dataDir) === null) await recordPlace(dataDir)
  const home = homeOf(dataDir)
  const base = path.dirname(home.cluster)
  await mkdir(base, { recursive: true, mode: home.owner ? 0o711 : 0o700 })
  if (isOutside(dataDir, home)) await claim(base, dataDir)
  await ownFolder(home.cluster, home.owner)
  await ownFolder(home.socket, home.owner)
  return home
}

/** Returns a message if the database was created by another user than its server would run as, else null. */
export function ownerMismatchOf({ cluster, owner }: Home): string | null {
  const found = statSync(cluster, { throwIfNoEntry: false })
  if (!owner || !found || found.uid === owner.uid || !existsSync(markOf({ cluster }))) return null
  return `the database in ${cluster} belongs to another user than root (uid ${found.uid}): run this as the user who runs the host, or give it to root's server for good with \`chown -R ${owner.uid}:${owner.gid} ${cluster}\``
}

export async function isMade(home: Home): Promise<boolean> {
  return stat(markOf(home)).then(
    () => true,
    () => false,
  )
}
