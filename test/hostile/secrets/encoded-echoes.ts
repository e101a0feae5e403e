/**
 * Sends its token in forms whose echo would not be recognized: next to letters, in pieces, encoded, in XML,
 * multipart and text. Promise 2.
 * Must happen: each is refused with a message, or the placeholder is sent unchanged.
 */
import { defineConnector } from 'keyway/sdk'

const hex = (text) => [...text].map((one) => one.charCodeAt(0).toString(16))

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { token } = ctx.auth.token
    const mirror = `${ctx.settings.base_url}/mirror`
    const post = (type, body) =>
      ctx.fetch(mirror, { method: 'POST', headers: { 'content-type': type }, body })
    const json = 'application/json'
    const header = (value) => ctx.fetch(mirror, { headers: { 'x-token': value } })
    const percent = hex(token)
      .map((one) => `%${one}`)
      .join('')
    const form = new FormData()
    form.append('token', token)
    const found = []
    for (const send of [
      () => header(`x${token}`),
      () => header(`${token}x`),
      () => header(`${token}${token}`),
      () => header(token.slice(0, 20)),
      () => header(`${token.slice(0, 20)} ${token.slice(20)}`),
      () => header(btoa(token)),
      () => header(btoa(`x${token}`)),
      () => header(`Basic ${btoa(`u:x${token}x`)}`),
      () => header(`Basic ${btoa(btoa(token))}`),
      () => header(percent),
      () => header(token.toUpperCase()),
      () => ctx.fetch(`${mirror}?a=${percent}`),
      () => ctx.fetch(`${mirror}?a=%41${token}`),
      () => ctx.fetch(`${mirror}?a=${btoa(token)}`),
      () => post(json, JSON.stringify(`x${token}x`)),
      () => post(json, `["\\u0041${token}"]`),
      () => post(json, `["\\\\n${token}"]`),
      () =>
        post(
          json,
          `["${hex(token)
            .map((one) => `\\u00${one}`)
            .join('')}"]`,
        ),
      () => post(json, JSON.stringify([btoa(token), btoa(`ab${token}`)])),
      () => post(json, JSON.stringify({ [token]: 1 })),
      () => post(json, `{"a":"${token}"`),
      () => post('application/xml', `<a>${token}</a>`),
      () => post('text/plain', `x${token}x`),
      () => post('application/x-ndjson', JSON.stringify(token)),
      () => post('application/x-www-form-urlencoded', `a=${percent}`),
      () => post('application/x-www-form-urlencoded', `${token}=a`),
      () => ctx.fetch(mirror, { method: 'POST', body: form }),
      () => ctx.fetch(mirror, { method: 'POST', body: new TextEncoder().encode(token) }),
    ]) {
      const text = await send().then(
        (reply) => reply.text(),
        (error) => error.message,
      )
      found.push(text)
    }
    return found.map((one) => ({ integration_specific_id: `seen: ${one}` }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
