/**
 * The format of a backup: a gzipped tar of `manifest.json`, `schema.json`, the rows of every table in pieces
 * under `data/`, and `end.json` with the digest of every entry, sealed with the operator's secret. A
 * truncated file has no end. An edited entry does not match its digest. The first format had the server's
 * data directory under `cluster/` instead of tables.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../../contract/schema/canonical-json.ts'

export const MANIFEST_NAME = 'manifest.json'
export const END_NAME = 'end.json'
/** Prefix of the names of all files of a data directory. */
export const CLUSTER_PREFIX = 'cluster/'

/** Name of the entry with the statements that create the tables. */
export const SCHEMA_NAME = 'schema.json'

/** Returns the name of a piece of a table's rows. Both are counted from 0. */
export const dataName = (table: number, piece: number): string => `data/${table}/${piece}`

/** Returns the table and the piece of an entry's name, or null for another entry. */
export function dataOf(name: string): { table: number; piece: number } | null {
  const [, table, piece] = /^data\/(\d{1,6})\/(\d{1,9})$/.exec(name) ?? []
  return table === undefined ? null : { table: Number(table), piece: Number(piece) }
}

/** Maximum size of a piece, in bytes. */
export const PIECE_BYTES = 4 * 1024 * 1024

/** Number of the format. Increased for a change that older versions cannot restore. */
export const BACKUP_FORMAT = 2
/** Number of the format that holds the files of a server. */
export const FORMAT_OF_FILES = 1

/** Maximum size of a manifest and of an end, in bytes. A million relations fit. */
export const MAX_BACKUP_MANIFEST_BYTES = 64 * 1024
export const MAX_END_BYTES = 256 * 1024 * 1024
/** Maximum size of a schema, in bytes. */
export const MAX_SCHEMA_BYTES = 16 * 1024 * 1024

/** Secret of the operator as a backup knows it. */
export type BackupKey = {
  /** Identifies the secret without revealing anything else, 16 hex digits. */
  id: string
  sealKey: Buffer
}

const KeyId = v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))

export const BackupManifest = v.object({
  format: v.number(),
  /** Version of Keyway that made the backup. */
  keyway: v.string(),
  /** Major version. */
  postgresql: v.number(),
  /** Such as linux-x64. Files of a server fit only this machine type, rows fit any. */
  machine: v.string(),
  made_at: v.string(),
  /** Ids of the secrets that protect the data, the current one first. */
  key_ids: v.pipe(v.array(KeyId), v.minLength(1)),
})
export type BackupManifest = v.InferOutput<typeof BackupManifest>

/** Name, size in bytes and SHA-256 in hex of an entry. The name of a folder ends in a slash. */
const ArchiveEntry = v.tuple([v.string(), v.number(), v.string()])
export type ArchiveEntry = v.InferOutput<typeof ArchiveEntry>

export const End = v.object({
  /** Everything acknowledged until then is in the backup. */
  complete_until: v.string(),
  entries: v.array(ArchiveEntry),
  seal: v.string(),
})
export type End = v.InferOutput<typeof End>

export const machine = (): string => `${process.platform}-${process.arch}`

/** Returns the seal over the whole backup. The manifest is the first of the entries. */
export function sealOf(
  key: BackupKey,
  { complete_until, entries }: Omit<End, 'seal'>,
  format: number = BACKUP_FORMAT,
): string {
  const text = canonicalJson([format, complete_until, entries])
  return createHmac('sha256', key.sealKey).update(text).digest('hex')
}

export function isSealedWith(key: BackupKey, end: End, format: number): boolean {
  const right = Buffer.from(sealOf(key, end, format), 'hex')
  const given = Buffer.from(end.seal, 'hex')
  return given.length === right.length && timingSafeEqual(given, right)
}

export const digestOfBytes = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

/**
 * Reports whether the name of an entry stays below `cluster/` and contains nothing special to a shell or a
 * path.
 */
export function isClusterName(name: string): boolean {
  if (!/^cluster\/([A-Za-z0-9_][A-Za-z0-9_.-]*\/)*([A-Za-z0-9_][A-Za-z0-9_.-]*)?$/.test(name))
    return false
  return !name.includes('..')
}

/** Thrown if a backup cannot be made or restored. The message gives the reason and advice. */
export class BackupError extends Error {}
