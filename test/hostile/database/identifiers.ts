/**
 * Uses role names and values that are SQL statements themselves. Promise 2.
 * Must happen: names are only quoted and values are only compared; a name that cannot be quoted is refused.
 */
import { defineConnector } from 'keyway/sdk'

const NAMES = [
  'x" to y',
  '"',
  '""',
  '"; drop role x; --',
  "'; drop role x; --",
  "\\'; drop role x; --",
  '\\',
  '\\"',
  'x\n"',
  'x/*',
  '*/x',
  '--',
  '$1',
  '$$',
  '{identifier:role}',
  '{literal:text}',
  '\u2019"',
  '＂',
]
const REFUSED = ['', 'x\u0000y', 'x'.repeat(64), 'ü'.repeat(32), '\u2019\ud800"']

export default defineConnector({
  async list_accounts(_request, ctx) {
    for (const name of NAMES) {
      await ctx.sql.execute('grant', [], { role: name, member: name })
      await ctx.sql.execute('comment', [], { role: name, text: name })
      await ctx.sql.query('find', [name])
    }
    const found: string[] = []
    const forms: unknown[] = [...REFUSED, null, 1, true, ['x'], { identifier: 'x' }]
    for (const role of forms) {
      try {
        // The cast: these are forms that the types refuse.
        await ctx.sql.execute('grant', [], { role, member: 'must-not-arrive' } as never)
        found.push(`ESCAPED ${String(role)}`)
      } catch {}
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
