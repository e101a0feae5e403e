/**
 * Reads, writes, moves and names entries with DNs that only look as if they were below the base, and with
 * other names of the attributes that contain them. Promise 2.
 * Must happen: every DN that is not below the base is refused before anything is sent.
 */
import { defineConnector } from 'keyway/sdk'

const OUTSIDE = [
  '',
  'dc=must-not-arrive',
  'cn=must-not-arrive,dc=evil',
  'cn=must-not-arrive,dc=acme,dc=evil',
  'cn=must-not-arrive\\,dc=acme',
  'cn=must-not-arrive\\2Cdc\\3Dacme',
  'cn="must-not-arrive,dc=acme"',
  'cn=must-not-arrive;dc=acme',
  'cn=must-not-arrive+dc=acme',
  'cn=must-not-arrive,dc=acme+cn=x',
  'cn=must-not-arrive,xdc=acme',
  'cn=must-not-arrive,dc=#0461636d65',
  'cn=must-not-arrive,dc=acme\\',
  'cn=must-not-arrive,dc=acme\u0000,dc=evil',
  'cn=must-not-arrive,dc=acm\u0435',
  'cn=must-not-arrive,dc=acme,',
  'must-not-arrive',
  `cn=must-not-arrive,${'ou=x,'.repeat(100)}dc=acme`,
]
const INSIDE = 'cn=x,dc=acme'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { ldap } = ctx
    const found: string[] = []
    for (const dn of OUTSIDE) {
      const member = { member: [INSIDE, dn] }
      const named = { add: { 'MEMBER;x-a': [dn] } }
      const numbered = { add: { '2.5.4.31': [dn] } }
      /** The directory adds the attributes of its name to an entry. */
      const naming = () => `cn=x+${ldap.dn(['member', dn])},dc=acme`
      const ways = {
        search: () => ldap.search({ base: dn, scope: 'base' }),
        add: () => ldap.add(dn, { cn: ['must-not-arrive'] }),
        delete: () => ldap.delete(dn),
        modify: () => ldap.modify(dn, [{ add: { cn: ['must-not-arrive'] } }]),
        move: () => ldap.move(dn, INSIDE),
        moveOut: () => ldap.move(INSIDE, dn),
        password: () => ldap.password(dn, 'must-not-arrive'),
        member: () => ldap.modify(INSIDE, [{ add: member }]),
        named: () => ldap.modify(INSIDE, [named]),
        numbered: () => ldap.modify(INSIDE, [numbered]),
        naming: () => ldap.add(naming(), { objectClass: ['groupOfNames'] }),
        renamed: () => ldap.move(INSIDE, naming()),
        created: () => ldap.add(INSIDE, member),
      }
      for (const [name, way] of Object.entries(ways)) {
        try {
          await way()
          found.push(`ESCAPED ${name} ${dn}`)
        } catch {}
      }
    }
    // A DN made by `dn` is always below the base, for any value.
    for (const value of ['x,dc=evil', 'x+dc=evil', '\\', '"', ' x ', '#x', 'x\u0000', 'x=y;z<>'])
      await ldap.search({ base: ldap.dn(['cn', value], 'dc=acme'), scope: 'base' })
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
