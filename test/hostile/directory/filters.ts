/**
 * Searches with values that are filters themselves, and with malformed filters of every kind. Promise 2.
 * Must happen: values are only compared; a malformed filter is refused and not sent.
 */
import { defineConnector } from 'keyway/sdk'

const VALUES = [
  '*',
  '*)(uid=*',
  '*))(|(uid=*',
  '\\2a\\29\\28uid=\\2a',
  'x)(!(uid=x',
  'x\u0000)(uid=*',
  '(&(uid=*)(objectClass=*))',
  '\u2605*\ud800',
]

const nest = (depth: number): object =>
  Array.from({ length: depth }).reduce<object>((inner) => ({ not: inner }), { present: 'uid' })

const FORMS: unknown[] = [
  '(must-not-arrive=*)',
  ['eq', 'must-not-arrive', 'x'],
  { text: '(must-not-arrive=*)' },
  { eq: ['must-not-arrive=*)(uid', 'x'] },
  { eq: ['must-not-arrive', { raw: '*' }] },
  { eq: ['must-not-arrive', ['*']] },
  { eq: ['must-not-arrive', { base64: '***' }] },
  { and: [] },
  { and: { 0: { present: 'must-not-arrive' }, length: 1 } },
  { present: 'must-not-arrive', eq: ['uid', 'x'] },
  { bit: ['must-not-arrive', '2)(uid=*'] },
  { __proto__: null, or: 'must-not-arrive' },
  nest(200),
  { or: Array.from({ length: 5000 }, () => ({ present: 'must-not-arrive' })) },
]

export default defineConnector({
  async list_accounts(_request, ctx) {
    for (const value of VALUES) {
      const found = await ctx.ldap.search({ filter: { eq: ['uid', `only-a-value${value}`] } })
      if (found.entries.length > 0) return [{ integration_specific_id: `ESCAPED ${value}` }]
    }
    for (const filter of FORMS) {
      try {
        await ctx.ldap.search({ filter: filter as never })
        return [{ integration_specific_id: `ESCAPED ${JSON.stringify(filter).slice(0, 200)}` }]
      } catch {}
    }
    return []
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
