/**
 * Where the embedded server lives and who it runs as. PostgreSQL refuses to run as root, and the
 * checkout of root is often closed to everybody else, so root's server is `nobody` in a place of its own.
 */
import { createHash } from 'node:crypto'
import { chown, mkdir, stat } from 'node:fs/promises'
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

/** Where the server that belongs to a data directory is, or would be. */
export function homeOf(dataDir: string): Home {
  const root = process.getuid?.() === 0
  const id = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
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

/** Makes the folders of the server that belongs to a data directory. */
export async function prepareHome(dataDir: string): Promise<Home> {
  const home = homeOf(dataDir)
  await mkdir(path.dirname(home.cluster), { recursive: true, mode: home.owner ? 0o711 : 0o700 })
  await ownFolder(home.cluster, home.owner)
  await ownFolder(home.socket, home.owner)
  return home
}

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
