/**
 * The PostgreSQL server that a run of the tests shares, and databases in it, each in the state after a first
 * start. A test that kills, stops, fills or copies its database uses a server of its own (template.ts).
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync } from 'node:fs'
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client, type ClientConfig } from 'pg'
import { NAME, startEmbedded } from '../../runtime/database/embedded.ts'
import { homeOf } from '../../runtime/database/server-home.ts'
import { PASSWORD_FILE } from '../../runtime/database/server-place.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'
import { forgetDatabase } from '../database/forget.ts'
import { type Login, startOwnServer, urlOf } from './own-server.ts'

/** Variable with the administrator's connection to the server, as JSON. */
const VARIABLE = 'KEYWAY_TESTS_SERVER'

/** Enough for several hosts at once, each of which may take 32. */
const MAX_CONNECTIONS = 400

/** No data outlives the run, so none has to survive a crash. */
const SETTINGS = `
fsync = off
synchronous_commit = off
full_page_writes = off
max_wal_size = '4GB'
checkpoint_timeout = '1h'
autovacuum_naptime = '10min'
`

/**
 * Access without a password: the server's folder admits no other user, and each of thousands of connections
 * would prove its password with 4096 hashes.
 */
const WHO = 'local all all trust\n'

export type TestDatabase = {
  /** Connection of the tables' owner. */
  login: Login
  /** The same connection as DATABASE_URL. */
  url: string
  /** Removes the database, and ends its connections. */
  drop(): Promise<void>
}

/**
 * Starts the server at the beginning of a run. `copyTo` puts a migrated cluster into a data directory.
 * Returns a function that stops the server.
 */
export async function startServer(
  copyTo: (dataDir: string) => Promise<void>,
): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-server-'))
  // Root's server runs as another user, and would use another folder if that user could not enter this one.
  chmodSync(dataDir, 0o711)
  await copyTo(dataDir)
  const { cluster } = homeOf(dataDir)
  await appendFile(path.join(cluster, 'postgresql.auto.conf'), SETTINGS)
  await writeFile(path.join(cluster, 'pg_hba.conf'), WHO)
  const { value: password } = await keptSecret(dataDir, PASSWORD_FILE)
  const quiet = { tell: () => {}, onLine: () => {} }
  const maxConnections = MAX_CONNECTIONS
  const server = await startEmbedded({ dataDir, password, maxConnections, ...quiet })
  const administrator = { ...server.connection, database: 'postgres' }
  // Other databases are copies of it, which can only be made while it has no connections.
  await ask(administrator, `alter database ${NAME} allow_connections false`)
  process.env[VARIABLE] = JSON.stringify(administrator)
  return async () => {
    await server.stop()
    await forgetDatabase(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function ask(connection: ClientConfig, statement: string): Promise<void> {
  const client = new Client(connection)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Makes a database for a test: in the server of the run, or in a server of its own outside of a test run. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const made = await newDatabase()
  if (made) return made
  const { login, url, remove } = await startOwnServer()
  return { login, url, drop: remove }
}

/** Makes a database in the server of the run. Returns null outside of a test run. */
export async function newDatabase(): Promise<TestDatabase | null> {
  const text = process.env[VARIABLE]
  if (text === undefined) return null
  // Written by `startServer`.
  const administrator = JSON.parse(text) as Login
  const database = `test_${randomBytes(6).toString('hex')}`
  // Copies its files: the other strategy writes each page to the log as well, at twice the processor time.
  await ask(administrator, `create database ${database} template ${NAME} strategy file_copy`)
  const login = { ...administrator, database }
  return {
    login,
    url: urlOf(login),
    drop: () => ask(administrator, `drop database ${database} with (force)`),
  }
}
