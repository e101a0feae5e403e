/**
 * B: what a user would write instead of Keyway. The same Hono server, the same bytes from a plain
 * function, valibot on request and reply, no sandbox. Prints its port.
 */
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import * as v from 'valibot'
import { AuthCredential } from '../../runtime/contract/authentication.ts'
import { CAPABILITIES } from '../../runtime/contract/capabilities.ts'
import { maybe } from '../../runtime/contract/optional.ts'
import { accounts } from './connectors/bench/accounts.ts'

const HANDLERS = {
  list_accounts: async () => accounts as unknown,
  assign_entitlement: async () => ({ assigned: true }) as unknown,
}

const app = new Hono()
for (const [name, handler] of Object.entries(HANDLERS)) {
  const { input, output } = CAPABILITIES[name as keyof typeof HANDLERS]
  const envelope = v.object({
    request: input,
    include_raw_data: maybe(v.boolean()),
    page: maybe(v.object({ token: maybe(v.string()), size: maybe(v.number()) })),
    settings: maybe(v.object({})),
    auth: maybe(AuthCredential),
  })
  app.post(`/connectors/bench/${name}`, async (c) => {
    const parsed = v.safeParse(envelope, await c.req.json())
    if (!parsed.success) return c.json({ is_error: true }, 200)
    const response = v.parse(output as v.GenericSchema, await handler())
    return c.json({ response, raw_data: null, page: null })
  })
}

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (info) => {
  console.log((info as AddressInfo).port)
})
process.on('SIGTERM', () => {
  server.close()
  process.exit(0)
})
