/**
 * Library for MySQL and MariaDB. Loaded for the first connection, because loading takes a tenth of a host's
 * start time.
 */
import type mysql from 'mysql2'

type Library = typeof mysql

let loaded: Library | null = null

export async function loadMysql(): Promise<Library> {
  loaded ??= (await import('mysql2')).default
  return loaded
}

/** Returns the loaded library, once a connection is open. */
export function mysqlLibrary(): Library {
  if (loaded === null) throw new Error('no connection has loaded mysql2')
  return loaded
}
