/**
 * Queries a database whose answers are not PostgreSQL protocol, or announce more than they contain. Promise
 * 1.
 * Must happen: each request fails with a message; nothing is read past the end of an answer, and no prototype
 * is changed.
 */
import { defineConnector } from 'keyway/sdk'

const NAMES = [
  ...['announced', 'garbage', 'unended', 'short', 'negative', 'copying', 'greeting', 'asking'],
  'closing',
]

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found: string[] = []
    for (const name of NAMES) {
      const late = new Promise((resolve) => setTimeout(resolve, 300))
      try {
        const read = await Promise.race([ctx.sql.query(name), late])
        if (read !== undefined) found.push(`ESCAPED ${name}`)
      } catch {}
    }
    const { rows } = await ctx.sql.query('polluting')
    if (!Object.hasOwn(rows[0] ?? {}, '__proto__')) found.push('ESCAPED row')
    if (({} as { polluted?: string }).polluted !== undefined) found.push('ESCAPED prototype')
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
