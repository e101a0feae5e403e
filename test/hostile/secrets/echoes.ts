/**
 * Has an upstream echo everything that is sent to it, in every place where a secret is inserted, and answers
 * with the echo, also decoded. Promise 2.
 * Must happen: the echo contains placeholders.
 */
import { defineConnector } from 'keyway/sdk'

const decoded = (text) =>
  (text.match(/[A-Za-z0-9+/_-]{8,}={0,2}/g) ?? []).map((one) => {
    try {
      return atob(one.replaceAll('-', '+').replaceAll('_', '/'))
    } catch {
      return ''
    }
  })

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { token } = ctx.auth.token
    const mirror = `${ctx.settings.base_url}/mirror`
    const json = { 'content-type': 'application/json' }
    const found = []
    for (const [url, init] of [
      [mirror, { headers: { authorization: `Bearer ${token}`, 'x-two': `${token},${token}` } }],
      [mirror, { headers: { authorization: ctx.basic('somebody', token) } }],
      [mirror, { headers: { authorization: ctx.basic(token, token) } }],
      [`${mirror}?key=${token}&b=/${token}/`, {}],
      [mirror, { method: 'POST', body: new URLSearchParams({ token, both: `${token} ${token}` }) }],
      [
        mirror,
        {
          method: 'POST',
          headers: json,
          body: JSON.stringify({ a: `\n${token}\t`, b: `"${token}"` }),
        },
      ],
      [mirror, { method: 'POST', headers: json, body: JSON.stringify(JSON.stringify([token])) }],
      [mirror, { method: 'POST', headers: json, body: `["\\u0020${token}\\u0020", "é${token}é"]` }],
    ]) {
      const reply = await ctx.fetch(url, init)
      const text = await reply.text()
      const headers = JSON.stringify([...reply.headers])
      found.push(text, headers, reply.url, ...decoded(text), ...decoded(headers))
    }
    return found.map((one) => ({ integration_specific_id: `seen: ${one}` }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
