/** Background job of findings: one look at an app or a domain at a time. */
import type { JobHandler } from '../kernel/background/turn.ts'
import { lookAt } from './look.ts'
import { dueLooks, parseLook } from './look-schedule.ts'

export const FINDING_JOB: JobHandler = {
  turnOf: (key) => `findings ${key}`,

  async handle(db, key, parts) {
    const look = parseLook(key)
    if (look !== null) await lookAt(db, look, parts)
  },

  due: (db) => dueLooks(db),

  // No retry needed: the next look follows the next change, or comes within a day.
  gaveUp: async () => {},
}
