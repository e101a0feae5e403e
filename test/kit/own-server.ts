/**
 * A PostgreSQL of its own: for a test that kills or stops its server or asks what others may not see, and for a program
 * that is no test.
 */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type EmbeddedDatabase, NAME, startEmbedded } from '../../runtime/database/embedded.ts'
import { PASSWORD_FILE } from '../../runtime/database/place.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'
import { forgetDatabase } from '../database/forget.ts'
import { behindFile } from './closing.ts'
import { withDatabase } from './template.ts'

export type Login = Record<'host' | 'user' | 'password' | 'database', string>

/** A way to connect as DATABASE_URL has it. */
export const urlOf = ({ host, user, password, database }: Login): string =>
  `postgres://${user}:${encodeURIComponent(password)}@/${database}?host=${encodeURIComponent(host)}`

export type OwnServer = {
  dataDir: string
  server: EmbeddedDatabase
  /** How the owner of the tables connects, also as DATABASE_URL has it. */
  login: Login
  url: string
  /** Stops the server and removes all of it. */
  remove(): Promise<void>
}

/** Starts one in a new folder: over an empty database where `isEmpty`, else over what a first start makes. */
export async function startOwnServer({ isEmpty = false } = {}): Promise<OwnServer> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-database-'))
  if (!isEmpty) await withDatabase(dataDir)
  // Made once there is a place: a password without a database would be of one that is lost.
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

/** The same for a file of tests, removed behind it. */
export async function ownServer(options: { isEmpty?: boolean } = {}): Promise<OwnServer> {
  const made = await startOwnServer(options)
  behindFile(made.remove)
  return made
}
