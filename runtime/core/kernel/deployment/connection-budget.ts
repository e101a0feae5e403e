/** Whether PostgreSQL gives the hosts of a deployment as many connections as they may take together. */
import {
  type ConnectionLimit,
  givenConnections,
  MOST_OF_A_HOST,
} from '../../../database/connections.ts'
import type { Db } from '../../../database/database.ts'
import { nodes } from '../../../database/schema/lifecycle.ts'
import { isLive } from './deployment.ts'

type Crowd = {
  /** Whether there are enough. */
  enough: boolean
  /** A message for operators, with the numbers. */
  what: string
  /** What to do where there are too few. */
  advice: string
}

/** Judges by figures; `hosts` is at least one. */
export function crowdOf(hosts: number, { connections, limit }: ConnectionLimit): Crowd {
  const wanted = hosts * MOST_OF_A_HOST
  const who = hosts === 1 ? 'this host' : `${hosts} hosts`
  return {
    enough: wanted <= connections,
    what: `${who} may take ${wanted} connections to PostgreSQL, which gives them ${connections} (${limit})`,
    advice: `let PostgreSQL give ${wanted} at least, ${MOST_OF_A_HOST} for each host: raise max_connections (and restart it), or the limit that is named; until then requests may be answered with 503 while much is going on`,
  }
}

/** Judges by what the server says and by the hosts that were seen lately; `more` are hosts that have not said so yet. */
export async function connectionsOf(db: Db, more = 0): Promise<Crowd> {
  const seen = await db.$count(nodes, isLive)
  return crowdOf(Math.max(1, seen + more), await givenConnections(db))
}
