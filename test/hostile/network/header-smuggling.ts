/**
 * Sends headers that make another request, another host or another length. Promise 2.
 * Must happen: each is refused; the upstream sees none of them.
 */
import { defineConnector } from 'keyway/sdk'

const HEADERS = [
  ['host', 'evil.example'],
  ['Host ', 'evil.example'],
  ['content-length', '0'],
  ['transfer-encoding', 'chunked'],
  ['transfer_encoding', 'chunked'],
  ['connection', 'upgrade'],
  ['upgrade', 'h2c'],
  ['expect', '100-continue'],
  ['te', 'trailers'],
  ['trailer', 'x'],
  ['proxy-authorization', 'Basic x'],
  ['x-forwarded-for', '127.0.0.1'],
  ['x-a', 'b\r\nx-smuggled: yes'],
  ['x-a', 'b\nGET /must-not-arrive HTTP/1.1'],
  ['x-a\r\nx-smuggled', 'yes'],
  ['x-a:x-smuggled', 'yes'],
  ['x-a', '\u010d\u010ax-smuggled: yes'],
  ['', 'x'],
]

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found = []
    for (const [name, value] of HEADERS) {
      for (const headers of [{ [name]: value }, [[name, value]]]) {
        try {
          const echo = JSON.parse(
            await (await ctx.fetch(`${ctx.settings.base_url}/echo`, { headers })).text(),
          )
          const bad = echo.some((one, index) =>
            index % 2 === 0
              ? /smuggled|transfer|upgrade|expect|^te$|trailer|proxy|content-length/i.test(one)
              : /evil\.example|smuggled/.test(one),
          )
          if (bad) found.push(`ESCAPED ${name} ${value} ${echo.join(' ')}`)
        } catch {}
      }
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
