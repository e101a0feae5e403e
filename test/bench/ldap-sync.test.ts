/** The short form of `npm run bench:ldap-sync`: 2,000 people, 6,000 memberships. */
import { afterAll, describe, expect, test } from 'vitest'
import { stopCommands } from '../e2e/command.ts'
import { noDirectory } from '../egress/ldap/directory.ts'
import { runLdapSync } from './ldap-sync-run.ts'

const PEOPLE = 2000

afterAll(stopCommands)

describe.skipIf(noDirectory !== null)(
  `a directory${noDirectory ? ` (${noDirectory})` : ''}`,
  () => {
    test('is synced exactly', { timeout: 240_000 }, async () => {
      const { wrong, memoryMb, client, calls } = await runLdapSync(PEOPLE)
      expect(wrong).toEqual([])
      expect(memoryMb.length).toBeGreaterThan(0)
      expect(client).toHaveLength(3)
      for (const { tookMs } of client) expect(tookMs).toBeGreaterThan(0)
      expect(calls.cpu.host).toBeGreaterThan(0)
    })
  },
)
