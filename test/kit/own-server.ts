/**
 * A PostgreSQL server of its own: for a test that kills or stops its server or runs queries that others must
 * not see, and for programs outside of a test run.
 */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type EmbeddedDatabase, NAME, startEmbedded } from '../../runtime/database/embedded.ts'
import { PASSWORD_FILE } from '../../runtime/database/server-place.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'
import { forgetDatabase } from '../database/forget.ts'
import { afterThisFile } from './closing.ts'
import { withDatabase } from './template.ts'

export type Login = Record<'host' | 'user' | 'password' | 'database', string>

/** Returns a connection in the form of DATABASE_URL. */
export const urlOf = ({ host, user, password, database }: Login): string =>
  `postgres://${user}:${encodeURIComponent(password)}@/${database}?host=${encodeURIComponent(host)}`

export type OwnServer = {
  dataDir: string
  server: EmbeddedDatabase
  /** Connection of the tables' owner, also in the form of DATABASE_URL. */
  login: Login
  url: string
  /** Stops the server and removes all its files. */
  remove(): Promise<void>
}

/** Starts a server in a new folder: with an empty database if `isEmpty`, else with that of a first start. */
export async function startOwnServer({ isEmpty = false } = {}): Promise<OwnServer> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-database-'))
  if (!isEmpty) await withDatabase(dataDir)
  // Made once there is a place: a password without a database would indicate a lost one.
  const kept = async () => (await keptSecret(dataDir, PASSWORD_FILE)).value
  const server = await startEmbedded({ dataDir, password: kept, tell: () => {}, onLine: () => {} })
  const password = await kept()
  const login = { host: String(server.connection.host), user: NAME, password, database: NAME }
  return {
    dataDir,
    server,
    login,
    url: urlOf(login),
    async remove() {
      await server.stop()
      await forgetDatabase(dataDir)
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** Starts a server for a file of tests, which is removed after the file. */
export async function ownServer(options: { isEmpty?: boolean } = {}): Promise<OwnServer> {
  const made = await startOwnServer(options)
  afterThisFile(made.remove)
  return made
}
