/**
 * Which files of a running server belong into a backup, and how one that changes while it is read is
 * read (PostgreSQL manual, "Making a Base Backup Using the Low Level API").
 */
import type { FileHandle } from 'node:fs/promises'
import { open, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { codeOf, ifMissing } from '../../contract/errors/thrown.ts'
import { BackupError } from './format.ts'

/** A file or folder of the data directory; a folder's name ends in a slash. */
export type ClusterFile = { name: string; size: number }

/** Folders whose content belongs to the running server, or is gone at its next start. */
const EMPTY = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])

/** Files that belong to the running server. The label of this backup comes from its end. */
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|backup_manifest|current_logfiles|.*\.tmp|pgsql_tmp.*|pg_internal\.init.*)$/

/** Says what to recover from; read last, because it is what all others are judged by. */
export const CONTROL = 'global/pg_control'

/** How much is read at once, in bytes. */
const CHUNK = 256 * 1024

/** Everything that is there now but the write-ahead log. What comes and goes meanwhile, the log makes good. */
export async function listCluster(cluster: string): Promise<ClusterFile[]> {
  const found: ClusterFile[] = []
  async function walk(folder: string): Promise<void> {
    const entries = await readdir(path.join(cluster, folder), { withFileTypes: true })
    for (const entry of entries) {
      const name = folder + entry.name
      if (entry.isDirectory()) {
        if (LEFT_OUT.test(entry.name)) continue
        found.push({ name: `${name}/`, size: 0 })
        if (!EMPTY.has(name)) await walk(`${name}/`)
      } else if (!entry.isFile()) {
        throw new BackupError(
          `${path.join(cluster, name)} is a link: a backup holds the data directory alone; move what it leads to (a tablespace?) back in`,
        )
      } else if (!LEFT_OUT.test(entry.name) && name !== CONTROL) {
        const size = await sizeOf(path.join(cluster, name))
        if (size !== null) found.push({ name, size })
      }
    }
  }
  await walk('')
  return found
}

const sizeOf = (file: string): Promise<number | null> =>
  stat(file).then((one) => one.size, ifMissing(null))

/** An open file of the server with the size it has now; null when it has been dropped. */
export async function openFile(file: string): Promise<{ handle: FileHandle; size: number } | null> {
  try {
    const handle = await open(file, 'r')
    return { handle, size: (await handle.stat()).size }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** Exactly so many bytes: what was cut off meanwhile is filled with zeros, and restored by the log. */
export async function* readExactly(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += CHUNK) {
    const wanted = Math.min(CHUNK, size - at)
    const { buffer } = await handle.read(Buffer.alloc(wanted), 0, wanted, at)
    yield buffer
  }
}

/** The control file as it was at one moment: the server may write it while it is read. */
export async function readControl(cluster: string): Promise<Buffer> {
  const file = path.join(cluster, CONTROL)
  for (let before = Buffer.alloc(0); ; ) {
    const found = await openFile(file)
    if (!found) throw new BackupError(`${file} is missing`)
    const chunks: Buffer[] = []
    try {
      for await (const chunk of readExactly(found.handle, found.size)) chunks.push(chunk)
    } finally {
      await found.handle.close()
    }
    const now = Buffer.concat(chunks)
    if (now.length > 0 && now.equals(before)) return now
    before = now
  }
}
