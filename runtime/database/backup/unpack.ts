/** Writes an entry of the first backup format, a file or folder of a server, below a folder. */
import { createHash } from 'node:crypto'
import { chmod, mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import type { ParsedTarEntry } from 'modern-tar'
import { type ArchiveEntry, CLUSTER_PREFIX, isClusterName } from './format.ts'
import { damaged } from './read.ts'

/**
 * Writes an entry. It need not be durable yet: the server that recovers the copy syncs it first.
 *
 * @throws BackupError if it is not part of a data directory
 */
export async function unpackEntry(
  entry: ParsedTarEntry,
  folder: string,
  file: string,
): Promise<ArchiveEntry> {
  const { name, type } = entry.header
  if (!isClusterName(name)) throw damaged(file, `it holds ${JSON.stringify(name)}`)
  const target = path.join(folder, name.slice(CLUSTER_PREFIX.length))
  if (type === 'directory') {
    await entry.body.cancel()
    await mkdir(target, { recursive: true, mode: 0o700 })
    return [name, 0, '']
  }
  if (type !== 'file') throw damaged(file, `it holds ${name}, which is neither a file nor a folder`)
  const { size, digest } = await writeEntry(entry, target)
  return [name, size, digest]
}

async function writeEntry(entry: ParsedTarEntry, target: string) {
  const hash = createHash('sha256')
  let size = 0
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
  const handle = await open(target, 'wx', 0o600)
  try {
    for await (const chunk of entry.body) {
      hash.update(chunk)
      size += chunk.length
      await handle.writeFile(chunk)
    }
  } finally {
    await handle.close()
  }
  await chmod(target, 0o600)
  return { size, digest: hash.digest('hex') }
}
