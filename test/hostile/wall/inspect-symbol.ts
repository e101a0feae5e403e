/**
 * Leaves functions where Node's `util.inspect` and loggers would call them. Promise 2.
 * Must happen: the host does not inspect live objects; nothing is called.
 */
import { defineConnector } from 'keyway/sdk'

const hit = (...given) => {
  throw given[1]?.constructor?.constructor?.('return "ESCAPED" + process.pid')()
}
const trap = () =>
  Object.assign(new Error('x'), {
    [Symbol.for('nodejs.util.inspect.custom')]: hit,
    inspect: hit,
    toJSON: hit,
  })

export default defineConnector({
  list_accounts(_request, ctx) {
    try {
      ctx.log.error('look', { trap: trap() })
    } catch {}
    try {
      console.log(trap())
    } catch {}
    throw trap()
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
