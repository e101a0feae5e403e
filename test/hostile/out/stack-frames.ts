/**
 * Reads functions and receivers of other frames with `Error.prepareStackTrace`. Promise 2.
 * Must happen: no frame of the prelude or the host shows its function, its receiver or its file.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const found = new Set()
    const files = new Set()
    Error.prepareStackTrace = (_error, frames) => {
      for (const frame of frames) {
        const file = String(frame.getFileName())
        files.add(file)
        const mine = /connector|undefined|null/.test(file)
        if (!mine && frame.getFunction()) found.add(`ESCAPED function of ${file}`)
        if (!mine && frame.getThis()) found.add(`ESCAPED receiver of ${file}`)
      }
      return ''
    }
    const look = () => void new Error('x').stack
    const probe = {
      toString: () => (look(), 'https://not-declared.example/'),
      get method() {
        look()
        return 'GET'
      },
      toJSON: look,
    }
    await ctx.fetch(probe, probe).catch(look)
    ctx.log.info('x', probe)
    try {
      new URL(probe)
    } catch {}
    structuredClone(probe.method)
    await new Promise((resolve) => setTimeout(() => resolve(look()), 1))
    return [...found].map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
