/**
 * Uses its token as a key, to compute values that only its holder can compute, or to test guesses against a
 * signature. Promise 2.
 * Must happen: the sandbox refuses with a message; the echo of a value signed by the host contains a placeholder.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { token } = ctx.auth.token
    const bytes = new TextEncoder().encode(token)
    const hmac = { name: 'HMAC', hash: 'SHA-256' }
    const found = []
    for (const use of [
      () => crypto.subtle.importKey('raw', bytes, hmac, true, ['sign']),
      () => crypto.subtle.importKey('jwk', { kty: 'oct', k: token }, hmac, true, ['sign']),
      () => crypto.subtle.digest('SHA-256', bytes),
    ])
      found.push(
        await use().then(
          () => 'ESCAPED',
          (error) => error.message,
        ),
      )
    for (const options of [
      { key: token },
      { key: token, claims: { token } },
      { key: token, headers: { token } },
    ]) {
      const signed = ctx.sign.jwt({ alg: 'HS256', ...options })
      const text = await ctx
        .fetch(`${ctx.settings.base_url}/mirror`, { headers: { 'x-jwt': signed } })
        .then(
          (reply) => reply.text(),
          (error) => error.message,
        )
      // Three parts separated by dots, signed by the host.
      found.push(/eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\./.test(text) ? 'ESCAPED' : text)
    }
    return found.map((one) => ({ integration_specific_id: `seen: ${one}` }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
