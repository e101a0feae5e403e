/**
 * B: the code that a user would write instead of using Keyway. The same Hono server, the same bytes from a
 * plain function, valibot on request and reply, no sandbox.
 */
import * as v from 'valibot'
import { serveWith } from './hono-server.ts'
import { PLAIN } from './requests.ts'

serveWith((c, name, reply) => {
  const response = v.parse(PLAIN[name].output, reply)
  return c.json({ response, raw_data: null, page: null } as object)
})
