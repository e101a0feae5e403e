/** The background work of retention: once an hour, on one host. */
import { hasRecentJob } from '../../database/jobs.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import { prune } from './prune.ts'
import type { KeptDays } from './rules.ts'

/** How often what is over is looked for, in seconds. */
const EVERY_SECONDS = 3600

const KEY = 'everything'

/** @param keptDays How long what is over is kept, by table. */
export const retentionJob = (keptDays: KeptDays): JobHandler => ({
  turnOf: () => 'retention',
  async handle(db, _key, { signal }) {
    await prune(db, keptDays, signal)
  },
  due: async (db) => ((await hasRecentJob(db, 'retention', EVERY_SECONDS)) ? [] : [KEY]),
  // It is begun again within the hour; keyway jobs has what failed.
  gaveUp: async () => {},
})
