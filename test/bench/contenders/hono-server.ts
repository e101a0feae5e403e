/** The server of B and BS: Hono on Node, two routes. They differ in how the reply is checked and written. */
import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { NAMES, type Name, PLAIN } from './requests.ts'

/** Serves on the port that the environment sets. `answer` checks a handler's reply and writes it. */
export function serveWith(answer: (c: Context, name: Name, reply: unknown) => Response): void {
  const app = new Hono()
  app.get('/readyz', (c) => c.json({ ready: true }))
  for (const name of NAMES) {
    const { accepts, handle } = PLAIN[name]
    app.post(`/connectors/bench/${name}`, async (c) => {
      if (!accepts(await c.req.json())) return c.json({ is_error: true }, 200)
      return answer(c, name, await handle())
    })
  }
  serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT']) })
}
