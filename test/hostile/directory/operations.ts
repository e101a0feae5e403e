/**
 * Writes through a capability that may only search, and forges requests of `ctx.ldap` with `ctx.fetch`.
 * Promise 2.
 * Must happen: every one of them is refused before anything is sent.
 */
import { defineConnector } from 'keyway/sdk'

const DN = 'cn=must-not-arrive,dc=acme'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { ldap } = ctx
    // The allowed operation does arrive.
    await ldap.search()
    const body = JSON.stringify({ dn: DN })
    const forged = (url: string, method: string) => ctx.fetch(url, { method, body })
    const ways = [
      () => ldap.add(DN, { cn: ['x'] }),
      () => ldap.delete(DN),
      () => ldap.modify(DN, [{ replace: { cn: [] } }]),
      () => ldap.move(DN, DN),
      () => ldap.password(DN, 'x'),
      () => forged('ldap:', 'DELETE'),
      () => forged('ldap:', 'PASSWORD'),
      () => forged('ldap:', 'delete'),
      () => forged('LDAP:', 'DELETE'),
      () => forged(`${ctx.settings.base_url}`, 'DELETE'),
      () => forged(`${ctx.settings.base_url}/${DN}`, 'POST'),
    ]
    const found: string[] = []
    for (const [index, way] of ways.entries()) {
      try {
        await way()
        found.push(`ESCAPED ${index}`)
      } catch {}
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
