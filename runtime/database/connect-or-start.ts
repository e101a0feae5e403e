/** The embedded database for a command: the running host's server, or one that is started temporarily. */
import { Client, type ClientConfig } from 'pg'
import { messageOf } from '../contract/errors/thrown.ts'
import { NAME, startEmbedded } from './embedded.ts'
import { DataDirInUseError, lockDataDir } from './host-lock.ts'
import { homeOf, isMade, ownerMismatchOf } from './server-home.ts'

export type ConnectedDatabase = {
  connection: ClientConfig
  cluster: string
  /** Whether the server belongs to a running host. */
  shared: boolean
  release(): Promise<void>
}

/** Thrown if there is no database. The message says where it was expected. */
export class NoDatabaseError extends Error {}

/**
 * Connects to the database of a data directory. Does not create one.
 *
 * @param password Stored password, or null if there is none.
 * @throws NoDatabaseError
 */
export async function connectOrStart(
  dataDir: string,
  password: string | null,
  tell: (text: string) => void,
): Promise<ConnectedDatabase> {
  const home = homeOf(dataDir)
  const stranger = ownerMismatchOf(home)
  if (stranger !== null) throw new NoDatabaseError(stranger)
  if (password === null || !(await isMade(home))) throw noDatabase(home.cluster, dataDir)
  let unlock: () => Promise<void>
  try {
    unlock = await lockDataDir(dataDir)
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error
    const connection = { host: home.socket, user: NAME, password, database: NAME }
    await answers(connection, error)
    return { connection, cluster: home.cluster, shared: true, release: async () => {} }
  }
  try {
    const server = await startEmbedded({ dataDir, password, tell, onLine: () => {} })
    return {
      connection: server.connection,
      cluster: home.cluster,
      shared: false,
      async release() {
        await server.stop()
        await unlock()
      },
    }
  } catch (cause) {
    await unlock()
    throw new NoDatabaseError(
      `the database in ${home.cluster} cannot be started: ${messageOf(cause)}`,
      { cause },
    )
  }
}

async function answers(connection: ClientConfig, inUse: DataDirInUseError): Promise<void> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
  } catch (cause) {
    throw new NoDatabaseError(
      `${inUse.message.split(';')[0]}, but its database does not answer (${messageOf(cause)}); try again when it does`,
      { cause },
    )
  } finally {
    await client.end().catch(() => {})
  }
}

const noDatabase = (cluster: string, dataDir: string): NoDatabaseError =>
  new NoDatabaseError(
    `there is no database for the data directory ${dataDir} (looked in ${cluster}); is KEYWAY_DATA_DIR the one that the host uses?`,
  )
