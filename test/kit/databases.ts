/**
 * The one PostgreSQL of a run of the tests, and databases in it, each as a first start would have made it. What a test
 * kills, stops, fills or copies is a server of its own (template.ts).
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync } from 'node:fs'
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client, type ClientConfig } from 'pg'
import { NAME, startEmbedded } from '../../runtime/database/embedded.ts'
import { homeOf } from '../../runtime/database/home.ts'
import { PASSWORD_FILE } from '../../runtime/database/place.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'
import { forgetDatabase } from '../database/forget.ts'
import { type Login, startOwnServer, urlOf } from './own-server.ts'

/** Where the tests of a run find the server: how its administrator connects, as JSON. */
const VARIABLE = 'KEYWAY_TESTS_SERVER'

/** Enough for some hosts at once, each of which may take 32. */
const MAX_CONNECTIONS = 400

/** Nothing of it outlives the run, so nothing need survive a crash. */
const SETTINGS = `
fsync = off
synchronous_commit = off
full_page_writes = off
max_wal_size = '4GB'
checkpoint_timeout = '1h'
autovacuum_naptime = '10min'
`

/** Its folder lets nobody else in, and each of thousands of connections would prove its password with 4096 hashes. */
const WHO = 'local all all trust\n'

export type TestDatabase = {
  /** How the owner of the tables connects. */
  login: Login
  /** The same as DATABASE_URL has it. */
  url: string
  /** Removes it, with whatever is still connected. */
  drop(): Promise<void>
}

/** For the beginning of a run: starts the server. `copyTo` puts a migrated cluster into a data directory. */
export async function startServer(
  copyTo: (dataDir: string) => Promise<void>,
): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-server-'))
  // Root's server runs as another user, and lies elsewhere where that one cannot come to.
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
  // The others are copies of it, which may be made only while nobody is connected.
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

/** A new database for a test: in the server of the run, or in one of its own where a program is no test. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const made = await newDatabase()
  if (made) return made
  const { login, url, remove } = await startOwnServer()
  return { login, url, drop: remove }
}

/** A new database in the server of the run; null in a program that is no test, which has none. */
export async function newDatabase(): Promise<TestDatabase | null> {
  const told = process.env[VARIABLE]
  if (told === undefined) return null
  // Written by `startServer`.
  const administrator = JSON.parse(told) as Login
  const database = `test_${randomBytes(6).toString('hex')}`
  // By copying its files: the other way writes each page to the log as well, at twice the processor time.
  await ask(administrator, `create database ${database} template ${NAME} strategy file_copy`)
  const login = { ...administrator, database }
  return {
    login,
    url: urlOf(login),
    drop: () => ask(administrator, `drop database ${database} with (force)`),
  }
}
