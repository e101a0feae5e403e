/** Check that PostgreSQL allows all the connections that the hosts of a deployment may open together. */
import {
  type ConnectionLimit,
  givenConnections,
  MAX_CONNECTIONS_PER_HOST,
} from '../../../database/connections.ts'
import type { Db } from '../../../database/database.ts'
import { nodes } from '../../../database/schema/lifecycle.ts'
import { isLive } from './deployment.ts'

type Crowd = {
  /** True if there are enough. */
  enough: boolean
  /** Message for operators, with the numbers. */
  what: string
  /** Advice if there are too few. */
  advice: string
}

/** Compares the given figures. `hosts` is at least one. */
export function compareConnections(hosts: number, { connections, limit }: ConnectionLimit): Crowd {
  const wanted = hosts * MAX_CONNECTIONS_PER_HOST
  const who = hosts === 1 ? 'this host' : `${hosts} hosts`
  return {
    enough: wanted <= connections,
    what: `${who} may open ${wanted} connections to PostgreSQL, which allows ${connections} (${limit})`,
    advice: `let PostgreSQL allow at least ${wanted}, ${MAX_CONNECTIONS_PER_HOST} for each host: raise max_connections and restart it, or raise the named limit; until then requests may get 503 under load`,
  }
}

/**
 * Compares the server's limit with the hosts seen recently. `more` is the number of hosts that have not
 * reported yet.
 */
export async function connectionsOf(db: Db, more = 0): Promise<Crowd> {
  const seen = await db.$count(nodes, isLive)
  return compareConnections(Math.max(1, seen + more), await givenConnections(db))
}
