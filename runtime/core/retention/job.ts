/** Background work of retention: once an hour, on one host. */
import { hasRecentJob } from '../../database/jobs.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import { prune } from './prune.ts'
import type { KeptDays } from './rules.ts'

/** Interval between removals of expired rows, in seconds. */
const EVERY_SECONDS = 3600

const KEY = 'everything'

/**
 * Creates the handler of retention.
 *
 * @param keptDays days that rows are kept after their end, by table
 */
export const retentionJob = (keptDays: KeptDays): JobHandler => ({
  turnOf: () => 'retention',
  async handle(db, _key, { signal }) {
    await prune(db, keptDays, signal)
  },
  due: async (db) => ((await hasRecentJob(db, 'retention', EVERY_SECONDS)) ? [] : [KEY]),
  // It starts again within the hour. `keyway jobs` shows the failure.
  gaveUp: async () => {},
})
