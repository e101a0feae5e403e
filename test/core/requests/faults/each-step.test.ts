/** Each call of a request fails once, in each way; the request still ends as usual. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CoreHost, person } from '../../host.ts'
import type { Company } from '../company.ts'
import { type BadCompany, startBadCompany } from './bad-company.ts'
import type { BadSystem, End, Name } from './bad-system.ts'

let bad: BadCompany
let system: BadSystem
let core: CoreHost
let acme: Company
let appId: string
let permission: string
let people = 0

beforeAll(async () => {
  bad = await startBadCompany()
  ;({ system, core, acme } = bad)
  ;({ appId, permission } = await acme.connectedWithGroup(system.app))
})
afterAll(() => bad.stop())

async function someone() {
  people += 1
  const email = `person-${people}@acme.example`
  return { ...(await person(core.db, email)), email }
}

/** The most distinct ways in which each call can fail; `LONG=1` adds the others. */
const ENDS: Partial<Record<Name, { short: End[]; long: End[] }>> = {
  list_accounts: { short: ['hang'], long: ['before', 'after'] },
  create_account: { short: ['after', 'lie'], long: ['before', 'hang'] },
  get_account_entitlement_associations: { short: ['before'], long: ['after', 'hang'] },
  assign_entitlement: { short: ['after', 'lie'], long: ['before', 'hang'] },
  unassign_entitlement: { short: ['lie', 'hang'], long: ['before', 'after'] },
}

describe.each(Object.entries(ENDS) as [Name, { short: End[]; long: End[] }][])(
  '%s',
  (name, ends) => {
    const { short, long } = ends
    it.each([...short, ...(process.env['LONG'] ? long : [])])(
      'may end once with “%s”: access is still granted once, and revoked',
      async (end) => {
        const who = await someone()
        system.once(name, end)
        const id = await acme.asked(who, {
          app_id: appId,
          requestable_permission_ids: [permission],
          expiration_in_seconds: 1,
        })
        await acme.settle(id, 'complete')
        await acme.reachesSoon(id, 'TIME_BASED_EXPIRED')
        const own = system.accountsOf(who.email)
        expect(own).toHaveLength(1)
        expect(system.held.has(`${own[0]?.[0]} group`)).toBe(false)
        const { notes } = await acme.read(id)
        expect(Object.keys(notes)).toContain('COMPLETED')
        expect(Object.keys(notes).join()).not.toMatch(/MANUAL/)
      },
    )
  },
)
