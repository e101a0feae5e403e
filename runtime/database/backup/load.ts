/** Makes a server's data directory from a backup of tables, with a server that no other process can reach. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { addAbortSignal } from 'node:stream'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams'
import { messageOf } from '../../contract/errors/thrown.ts'
import type { Binaries } from '../binaries.ts'
import { makeCluster, startServer } from '../embedded.ts'
import type { Home } from '../server-home.ts'
import type { Schema } from './catalog.ts'
import { BackupError } from './format.ts'
import type { WholeBackup } from './read.ts'
import { readTables } from './tables.ts'

const run = promisify(execFile)

/**
 * Settings without crash safety: after a crash everything is made again from the backup. All of it is synced
 * at the end.
 */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  maintenance_work_mem: '256MB',
}

type LoadOptions = {
  file: string
  /** Empty folder for the data directory. */
  folder: string
  home: Home
  binaries: Binaries
  /** Password of the role that owns everything. */
  password: string
  signal: AbortSignal
  onProgress(progress: { rows: number; bytes: number; allBytes: number }): void
}

/**
 * Makes the data directory. Afterwards the content of `folder` is on disk, and its server has shut down
 * cleanly.
 *
 * @throws BackupError
 */
export async function loadCluster(options: LoadOptions, whole: WholeBackup): Promise<void> {
  const { folder, binaries, password, home } = options
  const socket = await mkdtemp(path.join(tmpdir(), 'keyway-restore-'))
  if (home.owner) await chown(socket, home.owner.uid, home.owner.gid)
  try {
    const place = { ...home, cluster: folder, socket }
    const quiet = { tell: () => {}, onLine: () => {} }
    await makeCluster(place, binaries, password)
    const server = await startServer(place, binaries, { password, settings: SETTINGS, ...quiet })
    try {
      await load(new Client({ ...server.connection }), options, whole)
    } finally {
      await server.stop()
    }
    await run(path.join(binaries.bin, 'initdb'), ['--sync-only', '-D', folder], {
      cwd: '/',
      env: {},
      ...(home.owner ?? {}),
    })
  } finally {
    await rm(socket, { recursive: true, force: true })
  }
}

async function load(client: Client, options: LoadOptions, whole: WholeBackup): Promise<void> {
  const { signal, onProgress } = options
  client.on('error', () => {})
  await client.connect()
  // Also while a statement is running.
  const giveUp = () => void client.end().catch(() => {})
  signal.addEventListener('abort', giveUp)
  let made: Schema | null = null
  let bytes = 0
  const copy = copying(client, signal)
  try {
    await client.query('begin')
    await readTables(options, whole, {
      async schema(schema) {
        made = schema
        await each(client, schema.before)
      },
      async rows(table, piece) {
        const into = made?.tables[table]
        if (into === undefined) throw new BackupError(`the backup has rows of no table: ${table}`)
        await copy.add(into, piece)
        bytes += piece.length
        onProgress({ rows: copy.rows(), bytes, allBytes: whole.bytes })
      },
    })
    await copy.end()
    if (made === null) throw new BackupError('the backup has no tables')
    await each(client, afterOf(made))
    await client.query('commit')
    await client.query('reset all; analyze')
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BackupError) throw error
    throw new BackupError(
      `the tables in the backup cannot be made: ${messageOf(error)}. Nothing was changed`,
      { cause: error },
    )
  } finally {
    signal.removeEventListener('abort', giveUp)
    await client.end().catch(() => {})
  }
}

const afterOf = ({ after }: Schema): readonly string[] => after

async function each(client: Client, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await client.query(statement)
}

/** Runs one COPY after another. */
function copying(client: Client, signal: AbortSignal) {
  let open: { name: string; stream: CopyStreamQuery; fault: Error | null } | null = null
  let done = 0

  async function end(): Promise<void> {
    const ended = open
    open = null
    if (ended === null) return
    if (ended.fault) throw ended.fault
    ended.stream.end()
    await finished(ended.stream)
    done += ended.stream.rowCount
  }

  return {
    rows: () => done,
    end,
    async add({ name, columns }: Schema['tables'][number], bytes: Buffer): Promise<void> {
      if (open?.name !== name) {
        await end()
        // The table was created in this transaction, so its rows can be frozen.
        const stream = client.query(copyFrom(`copy ${name} (${columns}) from stdin with (freeze)`))
        addAbortSignal(signal, stream)
        const begun: typeof open = { name, stream, fault: null }
        // Also while no caller waits for it.
        stream.on('error', (error) => {
          begun.fault ??= error
        })
        open = begun
      }
      if (open.fault) throw open.fault
      if (!open.stream.write(bytes)) await once(open.stream, 'drain')
    },
  }
}
