/**
 * The short form of `npm run bench:sync`: 5,000 accounts, 15,000 associations, a host that is killed three
 * times.
 */
import { afterAll, expect, test } from 'vitest'
import { stopCommands } from '../e2e/command.ts'
import { runSync } from './sync-run.ts'

afterAll(stopCommands)

test.runIf(process.platform === 'linux')(
  'a sync whose host is killed three times ends with exactly the data of the upstream',
  { timeout: 240_000 },
  async () => {
    const report = await runSync({ accounts: 5000, kills: 3 })
    expect(report.wrong).toEqual([])
    expect(report.kills).toBe(3)
  },
)
