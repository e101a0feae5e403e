/** Where the embedded server lives and who it runs as: PostgreSQL refuses to run as root, so root's is `nobody`. */
import { existsSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Owner } from './binaries.ts'
import {
  baseOf,
  claim,
  digest,
  INSIDE,
  likelyPlace,
  markOf,
  NOBODY,
  OUTSIDE,
  ownFolder,
  placeOf,
  settlePlace,
} from './place.ts'

export type Home = {
  /** Where the copy of the programs may lie; the first that can be written to is taken. */
  programs: readonly string[]
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

export const isRoot = (): boolean => process.getuid?.() === 0

/**
 * Where the server that belongs to a data directory is, or would be. A place outside the data directory
 * is named by what lies in it and not by its path: a directory that was removed and made again is a new one.
 */
export function homeOf(dataDir: string): Home {
  const root = isRoot()
  const place = root ? (placeOf(dataDir) ?? likelyPlace(dataDir) ?? digest(dataDir)) : INSIDE
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

/** Whether root's server lies elsewhere than in its data directory, which then is only half of it. */
export const isOutside = (dataDir: string, { cluster }: Home): boolean =>
  path.dirname(cluster) !== baseOf(dataDir, INSIDE)

/**
 * Makes the folders of the server that belongs to a data directory.
 *
 * @throws Error when the directory is a copy of another that is still there: both would be one database; or
 * when the database that is there belongs to another user.
 */
export async function prepareHome(dataDir: string): Promise<Home> {
  const stranger = strangerOf(homeOf(dataDir))
  if (stranger !== null) throw new Error(stranger)
  if (isRoot() && placeOf(dataDir) === null) await settlePlace(dataDir)
  const home = homeOf(dataDir)
  const base = path.dirname(home.cluster)
  await mkdir(base, { recursive: true, mode: home.owner ? 0o711 : 0o700 })
  if (isOutside(dataDir, home)) await claim(base, dataDir)
  await ownFolder(home.cluster, home.owner)
  await ownFolder(home.socket, home.owner)
  return home
}

/** Says that a database was made by another user than the one its server would run as; else null. */
export function strangerOf({ cluster, owner }: Home): string | null {
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
