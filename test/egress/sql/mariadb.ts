/** MariaDB for tests of the egress. */
import type { Mariadb } from '../../real-systems/start.ts'
import { absentHere, egressTo, startServer } from './database.ts'

/** Why MariaDB is not available here; null if it is. */
export const noMariadb: string | null = await absentHere('mariadb')

export type MariadbServer = Mariadb & { stop(): Promise<void> }

export const startMariadb = (env: Record<string, string> = {}): Promise<MariadbServer> =>
  startServer('mariadb', env)

/** An egress, opened for one call to a MariaDB. */
export const mariadbEgress = (
  server: Pick<Mariadb, 'host' | 'port' | 'auth'>,
  { entry = {}, ...more }: Parameters<typeof egressTo>[1],
): ReturnType<typeof egressTo> => {
  const sql = `mariadb://${server.host}:${server.port}`
  return egressTo(
    { ...server, database: 'sales' },
    { ...more, entry: { sql, dialect: 'mysql', ...entry } },
  )
}
