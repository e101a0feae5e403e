/** MEASURES: values read from the database for monitoring. Each is one bounded query. */
import type { Readings } from '../../contract/endpoints/metrics.ts'
import type { Beginning, Db } from '../../database/database.ts'
import type { Connectors } from '../kernel/context/connectors.ts'
import { measureSyncs, outages } from './apps.ts'
import {
  failingRequests,
  mailsByState,
  oldestJobs,
  oldestRemovals,
  requestsByState,
} from './work-state.ts'

type Around = { domainId: string; connectors: Pick<Connectors, 'find'> }

const MEASURES: Record<string, (db: Db, around: Around) => Promise<Readings>> = {
  requests: (db, { domainId }) => requestsByState(db, domainId),
  failing: (db) => failingRequests(db),
  removals: (db, { domainId }) => oldestRemovals(db, domainId),
  syncs: (db, { connectors }) => measureSyncs(db, connectors),
  outages: (db) => outages(db),
  jobs: (db) => oldestJobs(db),
  mails: (db) => mailsByState(db),
}

/** Maximum duration of one query, in milliseconds, so that monitoring does not load the database. */
const MAX_WAIT_MS = 2000

const SHORT: Beginning = {
  accessMode: 'read only',
  settings: { statement_timeout: String(MAX_WAIT_MS) },
}

/** Runs queries in a read-only transaction with a short statement timeout. */
export const inShortTransaction = <T>(db: Db, query: (tx: Db) => Promise<T>): Promise<T> =>
  db.transaction(query, SHORT)

/** Runs all queries, one after the other. If one fails, `onError` is called and its gauges are absent. */
export async function readMeasures(
  db: Db,
  around: Around,
  onError: (measure: string, error: unknown) => void,
): Promise<Readings> {
  const all: Readings = {}
  for (const [name, measure] of Object.entries(MEASURES)) {
    try {
      const readings = await inShortTransaction(db, (tx) => measure(tx, around))
      Object.assign(all, readings)
    } catch (error) {
      onError(name, error)
    }
  }
  return all
}
