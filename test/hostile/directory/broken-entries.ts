/**
 * Queries a directory whose answers are not LDAP, or announce more than they contain. Promise 1.
 * Must happen: each request fails with a message; nothing is read past the end of an answer, and no prototype
 * is changed.
 */
import { defineConnector } from 'keyway/sdk'

const NAMES = ['announced', 'garbage', 'indefinite', 'short', 'deep', 'closing', 'others', 'notice']

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found: string[] = []
    const ask = (name: string) => ctx.ldap.search({ base: `cn=${name},dc=acme`, scope: 'base' })
    await Promise.all(
      NAMES.map(async (name) => {
        const late = new Promise((resolve) => setTimeout(resolve, 1000))
        try {
          const read = await Promise.race([ask(name), late])
          if (read !== undefined) found.push(`ESCAPED ${name}`)
        } catch {}
      }),
    )
    await ask('polluting')
    if (({} as { polluted?: string }).polluted !== undefined) found.push('ESCAPED prototype')
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
