/**
 * Writes line ends, spaces and backslashes into addresses and methods. Promise 2.
 * Must happen: refused or encoded; the upstream sees one request for each that was made.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const base = ctx.settings.base_url
    const found = []
    for (const path of [
      '/a\r\nx-smuggled: yes',
      '/a HTTP/1.1\r\n\r\nGET /must-not-arrive',
      '/\\..\\must-not-arrive',
      '/a\u0000b',
      '/\u010d\u010a',
      '/%0d%0ax',
    ]) {
      for (const method of [
        'GET',
        'GET /must-not-arrive HTTP/1.1\r\n\r\nGET',
        'get ',
        'TRACE',
        'CONNECT',
        '\u0000',
      ]) {
        if (method === 'GET' && path.includes('must-not-arrive')) continue
        try {
          await ctx.fetch(`${base}${path}`, { method })
          if (method !== 'GET') found.push(`ESCAPED ${JSON.stringify(method)}`)
        } catch {}
      }
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
