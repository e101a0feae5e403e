import { rm } from 'node:fs/promises'
import path from 'node:path'
import { prepareHome } from '../../runtime/database/home.ts'

/** Removes what the embedded database of a data directory keeps, wherever that is. */
export async function forgetDatabase(dataDir: string): Promise<void> {
  const { cluster, socket } = await prepareHome(dataDir)
  // A server that was just killed may still write its last file.
  await rm(path.dirname(cluster), { recursive: true, force: true, maxRetries: 10 })
  await rm(socket, { recursive: true, force: true })
}
