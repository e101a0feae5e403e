/**
 * Forges placeholders: with other numbers, of other calls, and in signing requests that are not allowed.
 * Promise 2.
 * Must happen: each is refused with a message, and the host continues.
 */
import { defineConnector } from 'keyway/sdk'

const hex = (text) =>
  [...new TextEncoder().encode(text)].map((one) => one.toString(16).padStart(2, '0')).join('')

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { token } = ctx.auth.token
    const [, head, tail] = /^(.{32})s...(.*)$/.exec(token)
    const asked = (text) => `${head}d${hex(text)}${tail}`
    const forged = [
      `${head}s001${tail}`,
      `${head}szzz${tail}`,
      `${head}e${tail}`,
      `${token.slice(0, 16)}0000000000000000s000${tail}`,
      `${head}d00${tail}`,
      asked('null'),
      asked('[]'),
      asked('{"do":"__proto__","options":{}}'),
      asked('{"do":"constructor","options":{}}'),
      asked('{"do":"jwt","options":null}'),
      asked('{"do":"jwt","options":{"__proto__":{"key":"x"}}}'),
      asked('{"do":"jwt","options":{"key":{"length":1e9}}}'),
      asked(`{"do":"jwt","options":{"claims":{"a":"${'x'.repeat(20_000)}"},"key":"no"}}`),
      asked(`{"do":"jwt","options":${'{"claims":'.repeat(500)}{}${'}'.repeat(500)}}`),
    ]
    const found = []
    for (const one of forged) {
      const text = await ctx
        .fetch(`${ctx.settings.base_url}/must-not-arrive`, { headers: { 'x-token': one } })
        .then(
          () => 'ESCAPED',
          (error) => error.message,
        )
      found.push(text)
    }
    return found.map((one) => ({ integration_specific_id: one.slice(0, 500) }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
