/**
 * Copies a database into one file: every table as of the same moment, as the text that COPY writes. The same
 * and every later major version of PostgreSQL reads it on any machine.
 */
import { addAbortSignal } from 'node:stream'
import { Client, type ClientConfig } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { codeOf } from '../../contract/errors/thrown.ts'
import { type ArchiveWriter, writeArchive } from './archive.ts'
import { readSchema, type Schema } from './catalog.ts'
import {
  BACKUP_FORMAT,
  type BackupKey,
  type BackupManifest,
  dataName,
  MANIFEST_NAME,
  machine,
  PIECE_BYTES,
  SCHEMA_NAME,
} from './format.ts'
import { SHORT_LIVED_TABLES } from './short-lived.ts'

/** Progress. `allBytes` is the size of the tables on disk, an estimate of the bytes to copy. */
type Progress = { tables: number; allTables: number; bytes: number; allBytes: number }

type BackupOptions = {
  /** Connects as a role that may read everything. */
  connection: ClientConfig
  file: string
  force: boolean
  /** Secrets of the operator, the current one first. */
  keys: readonly [BackupKey, ...BackupKey[]]
  /** Version of Keyway. */
  version: string
  signal: AbortSignal
  onProgress(progress: Progress): void
}

export type BackupResult = { bytes: number; tables: number; rows: number; completeUntil: string }

/**
 * Number of attempts to find a moment at which no table is dropped before it is locked: tables of statistics
 * come and go daily.
 */
const TRIES = 5

/** SQLSTATE of undefined_table. */
const GONE = '42P01'

/** One snapshot for all tables, without timeouts: the duration depends on the amount of data. */
const BEGIN = `begin isolation level repeatable read read only;
  set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0`

/**
 * Writes a backup with everything acknowledged before `completeUntil`, which is the time of its beginning.
 *
 * @throws BackupError, and errors of the file system
 */
export async function backup(options: BackupOptions): Promise<BackupResult> {
  const { connection, keys, signal } = options
  const client = new Client({ ...connection, application_name: 'keyway backup' })
  // An error that ends the connection also fails the waiting statement, or the next one.
  client.on('error', () => {})
  await client.connect()
  // Also while a statement is running.
  const giveUp = () => void client.end().catch(() => {})
  signal.addEventListener('abort', giveUp)
  try {
    const { schema, manifest, allBytes } = await snapshot(client, options)
    let rows = 0
    const bytes = await writeArchive(options, async (writer) => {
      await writer.addBytes(MANIFEST_NAME, Buffer.from(JSON.stringify(manifest)))
      await writer.addBytes(SCHEMA_NAME, Buffer.from(JSON.stringify(schema)))
      rows = await copyTables(client, schema, writer, allBytes, options)
      await client.query('commit')
      await writer.seal(keys[0], manifest.made_at)
    })
    return { bytes, tables: schema.tables.length, rows, completeUntil: manifest.made_at }
  } finally {
    signal.removeEventListener('abort', giveUp)
    await client.end()
  }
}

type Snapshot = { schema: Schema; manifest: BackupManifest; allBytes: number }

/** Begins the transaction whose snapshot the whole backup uses. */
async function snapshot(client: Client, { keys, version }: BackupOptions): Promise<Snapshot> {
  for (let tries = 1; ; tries += 1) {
    await client.query(BEGIN)
    try {
      // The time of the transaction's begin, which precedes its snapshot: everything acknowledged by then is
      // in it.
      const { rows } = await client.query(
        `select current_setting('server_version_num')::int as n, now() as at, pg_database_size(current_database()) as bytes`,
      )
      const schema = await readSchema(client, SHORT_LIVED_TABLES)
      const [{ n, at, bytes }] = rows
      const manifest = {
        format: BACKUP_FORMAT,
        keyway: version,
        postgresql: Math.floor(n / 10_000),
        machine: machine(),
        made_at: at.toISOString(),
        key_ids: keys.map(({ id }) => id),
      }
      return { schema, manifest, allBytes: Number(bytes) }
    } catch (error) {
      if (tries === TRIES || codeOf(error) !== GONE) throw error
      await client.query('rollback')
    }
  }
}

/**
 * Copies the tables.
 * @returns the number of rows
 */
async function copyTables(
  client: Client,
  { tables }: Schema,
  writer: ArchiveWriter,
  allBytes: number,
  { signal, onProgress }: BackupOptions,
): Promise<number> {
  let rows = 0
  let bytes = 0
  for (const [number, { name, columns }] of tables.entries()) {
    const copied = client.query(copyTo(`copy ${name} (${columns}) to stdout`))
    addAbortSignal(signal, copied)
    let piece = 0
    for await (const content of pieces(copied)) {
      await writer.addBytes(dataName(number, piece), content)
      piece += 1
      bytes += content.length
      onProgress({ tables: number, allTables: tables.length, bytes, allBytes })
    }
    rows += copied.rowCount
    onProgress({ tables: number + 1, allTables: tables.length, bytes, allBytes })
  }
  return rows
}

/**
 * Regroups the bytes into pieces of at most `PIECE_BYTES`, which bounds the memory for a table of any size.
 */
async function* pieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let size = 0
  for await (let chunk of chunks) {
    while (size + chunk.length >= PIECE_BYTES) {
      const end = PIECE_BYTES - size
      yield Buffer.concat([...held, chunk.subarray(0, end)])
      chunk = chunk.subarray(end)
      held = []
      size = 0
    }
    if (chunk.length === 0) continue
    held.push(chunk)
    size += chunk.length
  }
  if (size > 0) yield Buffer.concat(held)
}
