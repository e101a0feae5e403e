/** BS: B with Keyway's generated writers instead of valibot and JSON.stringify for the reply. */
import { compileFunction } from 'node:vm'
import { install, write } from '../../../runtime/worker/guest/writers.ts'
import { writersSource } from '../../../runtime/worker/writers.ts'
import { serveWith } from './hono-server.ts'

// The same as in an isolate, where the prelude has this name.
compileFunction(writersSource(), ['__keyway'])({ install })

serveWith((c, name, reply) => {
  const written = write(name, reply, false, Number.POSITIVE_INFINITY)
  if (written === null || written === 'over')
    throw new Error(`the writers refused the reply of ${name}`)
  return c.body(`{"response":${written.text},"raw_data":null,"page":null}`, 200, {
    'content-type': 'application/json',
  })
})
