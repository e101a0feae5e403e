/** Reads the tables and their rows from a backup, twice: to know that it is complete, and to load it. */
import type { ParsedTarEntry } from 'modern-tar'
import * as v from 'valibot'
import { Schema } from './catalog.ts'
import {
  type ArchiveEntry,
  dataOf,
  digestOfBytes,
  MANIFEST_NAME,
  MAX_BACKUP_MANIFEST_BYTES,
  MAX_SCHEMA_BYTES,
  PIECE_BYTES,
  SCHEMA_NAME,
} from './format.ts'
import { damaged, entriesIn, readEntryBytes, type WholeBackup } from './read.ts'

/** Returns the maximum size of an entry in bytes, or null if a backup has no entry of this name. */
function mostBytes(name: string): number | null {
  if (name === SCHEMA_NAME) return MAX_SCHEMA_BYTES
  return dataOf(name) === null ? null : PIECE_BYTES
}

/**
 * Describes an entry and keeps nothing of it.
 * @throws BackupError if it does not belong into a backup
 */
export async function describeEntry(entry: ParsedTarEntry, file: string): Promise<ArchiveEntry> {
  const { name } = entry.header
  const most = mostBytes(name)
  if (most === null) throw damaged(file, `it holds ${JSON.stringify(name)}`)
  const bytes = await readEntryBytes(entry, most)
  return [name, bytes.length, digestOfBytes(bytes)]
}

type Loaded = {
  schema(schema: Schema): Promise<void>
  rows(table: number, bytes: Buffer): Promise<void>
}

/**
 * Reads a backup again that is known to be complete, and passes its entries on in their order. Only sealed
 * content is passed on, even if the file has changed since.
 *
 * @throws BackupError
 */
export async function readTables(
  { file, signal }: { file: string; signal: AbortSignal },
  { end }: WholeBackup,
  to: Loaded,
): Promise<void> {
  let at = 0
  for await (const entry of entriesIn(file, signal)) {
    const { name } = entry.header
    const sealed = end.entries[at]
    at += 1
    // The end itself, which is not among the sealed entries.
    if (sealed === undefined) break
    const most = name === MANIFEST_NAME ? MAX_BACKUP_MANIFEST_BYTES : mostBytes(name)
    const bytes = await readEntryBytes(entry, most ?? 0)
    if (String([name, bytes.length, digestOfBytes(bytes)]) !== String(sealed))
      throw damaged(file, `${name} changed while it was restored`)
    const data = dataOf(name)
    if (name === SCHEMA_NAME) await to.schema(v.parse(Schema, JSON.parse(bytes.toString('utf8'))))
    else if (data !== null) await to.rows(data.table, bytes)
  }
}
