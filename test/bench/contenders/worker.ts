/** The Worker that workerd runs: B without Hono and Node, because it needs neither. */
import * as v from 'valibot'
import { isName, PLAIN } from './requests.ts'

const HEADERS = { headers: { 'content-type': 'application/json' } }
const PREFIX = '/connectors/bench/'

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/readyz') return new Response('{"ready":true}', HEADERS)
    const name = pathname.slice(PREFIX.length)
    const refused = () => new Response('{"is_error":true}', HEADERS)
    if (!pathname.startsWith(PREFIX) || !isName(name)) return refused()
    const { accepts, handle, output } = PLAIN[name]
    if (!accepts(await request.json())) return refused()
    const text = JSON.stringify(v.parse(output, await handle()))
    return new Response(`{"response":${text},"raw_data":null,"page":null}`, HEADERS)
  },
}
