/**
 * Requests hosts that no manifest declares, through a capability that declares others. Promise 2.
 * Must happen: each is refused by policy before a name is looked up.
 */
import { defineConnector } from 'keyway/sdk'

const ADDRESSES = [
  'https://evil.example/',
  'http://loopback.hostile.example/',
  'https://127.0.0.1/',
  'ftp://evil.example/',
  'file:///etc/passwd',
  'data:text/plain,x',
  'blob:x',
  '//evil.example/',
  'javascript:1',
  'http:evil.example',
  'http:\\\\evil.example\\',
  '\u0000http://evil.example',
  '',
]

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found = []
    for (const address of ADDRESSES) {
      try {
        const { status } = await ctx.fetch(address)
        found.push(`ESCAPED ${address} ${status}`)
      } catch {}
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
