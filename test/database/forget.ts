import { rm } from 'node:fs/promises'
import path from 'node:path'
import { prepareHome } from '../../runtime/database/server-home.ts'

/** Removes the files of a data directory's embedded database, wherever they are. */
export async function forgetDatabase(dataDir: string): Promise<void> {
  const { cluster, socket } = await prepareHome(dataDir)
  // A server that was just killed may still write its last file.
  await rm(path.dirname(cluster), { recursive: true, force: true, maxRetries: 10 })
  await rm(socket, { recursive: true, force: true })
}
