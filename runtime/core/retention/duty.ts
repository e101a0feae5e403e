/** The background work of retention: once an hour, on one host. */
import { alone } from '../../database/alone.ts'
import { hasRecentJob } from '../../database/jobs.ts'
import type { Duty } from '../background/background.ts'
import { prune } from './prune.ts'

/** How often what is over is looked for, in seconds. */
const EVERY_SECONDS = 3600

const KEY = 'everything'
const turnOf = (): string => 'retention'

export const RETENTION_DUTY: Duty = {
  turnOf,
  async handle(db, _key, { signal, keptDays }) {
    await alone(db, turnOf(), async (held) => {
      await prune(db, keptDays, AbortSignal.any([signal, held]))
    })
  },
  due: async (db) => ((await hasRecentJob(db, 'retention', EVERY_SECONDS)) ? [] : [KEY]),
  // It is begun again within the hour; keyway jobs has what failed.
  gaveUp: async () => {},
}
