/** The library for MySQL and MariaDB, loaded for the first connection: it takes as long as a tenth of a host's start. */
import type mysql from 'mysql2'

type Library = typeof mysql

let loaded: Library | null = null

export async function loadMysql(): Promise<Library> {
  loaded ??= (await import('mysql2')).default
  return loaded
}

/** The same once a connection is open. */
export function mysqlLibrary(): Library {
  if (loaded === null) throw new Error('no connection has loaded mysql2')
  return loaded
}
