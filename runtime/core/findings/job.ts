/** The background work of findings: one look at an app or a domain at a time. */
import type { JobHandler } from '../kernel/background/turn.ts'
import { lookAt } from './look.ts'
import { dueLooks, parseLook } from './looks.ts'

export const FINDING_JOB: JobHandler = {
  turnOf: (key) => `findings ${key}`,

  async handle(db, key, parts) {
    const look = parseLook(key)
    if (look !== null) await lookAt(db, look, parts)
  },

  due: (db) => dueLooks(db),

  // The next look finds what this one did not: at the next change, within a day at the latest.
  gaveUp: async () => {},
}
