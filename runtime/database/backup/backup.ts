/**
 * A physical copy of a running server's data directory with the write-ahead log that makes it whole:
 * the low level API of PostgreSQL, because the package brings no pg_basebackup.
 */
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { Client, type ClientConfig } from 'pg'
import { type ArchiveWriter, writeArchive } from './archive.ts'
import { CONTROL, listCluster, openFile, readControl, readExactly } from './files.ts'
import {
  BackupError,
  type BackupKey,
  CLUSTER_PREFIX,
  FORMAT,
  MANIFEST_NAME,
  type Manifest,
  machine,
} from './format.ts'

export type Progress = { files: number; bytes: number; allFiles: number; allBytes: number }

export type BackupOptions = {
  /** The server's data directory, readable by this process. */
  cluster: string
  /** As a role that may replicate. */
  connection: ClientConfig
  file: string
  force: boolean
  /** The operator's secrets, the current one first. */
  keys: readonly [BackupKey, ...BackupKey[]]
  /** Version of Keyway. */
  version: string
  signal: AbortSignal
  onProgress(progress: Progress): void
}

export type BackupResult = { bytes: number; files: number; completeUntil: string }

/**
 * Writes a backup: everything that was acknowledged before it began, and until `completeUntil`.
 *
 * @throws BackupError and what the file system says.
 */
export async function backup(options: BackupOptions): Promise<BackupResult> {
  const { cluster, keys } = options
  const client = new Client({ ...options.connection, application_name: 'keyway backup' })
  // What ends the connection also fails the question that waits for it, or the next one.
  client.on('error', () => {})
  await client.connect()
  let files = 0
  let completeUntil = ''
  try {
    const bytes = await writeArchive(options, async (writer) => {
      await writer.addBytes(
        MANIFEST_NAME,
        Buffer.from(JSON.stringify(await describe(client, options))),
      )
      const from = await begin(client)
      files = await copyFiles(writer, options)
      await writer.addBytes(CLUSTER_PREFIX + CONTROL, await readControl(cluster))
      const stopped = await end(client)
      completeUntil = stopped.at
      await writer.addBytes(`${CLUSTER_PREFIX}backup_label`, Buffer.from(stopped.label))
      for (const name of await logFiles(cluster, from, stopped.lastLogFile, stopped.segmentBytes))
        await copyFile(writer, cluster, `pg_wal/${name}`)
      await writer.seal(keys[0], completeUntil)
    })
    return { bytes, files, completeUntil }
  } finally {
    // Ends the backup and the slot too, where something failed.
    await client.end()
  }
}

async function describe(client: Client, { keys, version }: BackupOptions): Promise<Manifest> {
  const { rows } = await client.query(
    "select current_setting('server_version_num')::int as n, now()",
  )
  return {
    format: FORMAT,
    keyway: version,
    postgresql: Math.floor(rows[0].n / 10_000),
    machine: machine(),
    made_at: rows[0].now.toISOString(),
    key_ids: keys.map(({ id }) => id),
  }
}

/** The name of the first log file that is needed. From now on none is removed, as long as the session lasts. */
async function begin(client: Client): Promise<string> {
  await client.query('set statement_timeout = 0')
  await client.query('select pg_create_physical_replication_slot($1, true, true)', [
    `keyway_backup_${randomBytes(8).toString('hex')}`,
  ])
  const { rows } = await client.query(
    "select pg_walfile_name(pg_backup_start('keyway backup', fast => true)) as name",
  )
  return rows[0].name
}

/** Ends the copy of files: what is in the log until now is in the backup. */
async function end(client: Client) {
  const { rows: clock } = await client.query('select clock_timestamp() as now')
  const { rows } = await client.query(
    `select pg_walfile_name(lsn) as "lastLogFile", labelfile as label, spcmapfile as tablespaces,
       (select setting::bigint::text from pg_settings where name = 'wal_segment_size') as size
     from pg_backup_stop(wait_for_archive => false)`,
  )
  const { lastLogFile, label, tablespaces, size } = rows[0]
  if (tablespaces?.trim())
    throw new BackupError('the database has tablespaces, which a backup cannot hold')
  return { lastLogFile, label, at: clock[0].now.toISOString(), segmentBytes: Number(size) }
}

async function copyFiles(writer: ArchiveWriter, options: BackupOptions): Promise<number> {
  const { cluster, onProgress } = options
  const all = await listCluster(cluster)
  const progress = {
    files: 0,
    bytes: 0,
    allFiles: all.length,
    allBytes: all.reduce((sum, { size }) => sum + size, 0),
  }
  for (const { name } of all) {
    if (name.endsWith('/')) await writer.addFolder(CLUSTER_PREFIX + name)
    else progress.bytes += await copyFile(writer, cluster, name)
    progress.files += 1
    onProgress({ ...progress })
  }
  return progress.files
}

/** @returns its size in bytes. */
async function copyFile(writer: ArchiveWriter, cluster: string, name: string): Promise<number> {
  const found = await openFile(path.join(cluster, name))
  // Dropped since it was listed: the log says so as well.
  if (!found) return 0
  try {
    await writer.add(CLUSTER_PREFIX + name, found.size, readExactly(found.handle, found.size))
    return found.size
  } finally {
    await found.handle.close()
  }
}

/**
 * The log files from the first to the last, all of them.
 *
 * @throws BackupError when one is missing.
 */
async function logFiles(
  cluster: string,
  first: string,
  last: string,
  segmentBytes: number,
): Promise<string[]> {
  const names = await readdir(path.join(cluster, 'pg_wal'))
  const needed = names.filter(
    (name) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last,
  )
  const perLog = 2 ** 32 / segmentBytes
  const number = (name: string) =>
    Number.parseInt(name.slice(8, 16), 16) * perLog + Number.parseInt(name.slice(16), 16)
  if (needed.length !== number(last) - number(first) + 1)
    throw new BackupError('a part of the write-ahead log is missing; make the backup again')
  return needed.sort()
}
