/**
 * Requests other ports, other schemes and climbing paths of its upstream's host. Promise 2.
 * Must happen: only the declared origin is reached.
 */
import { defineConnector } from 'keyway/sdk'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const { hostname, port } = new URL(ctx.settings.base_url)
    const found = []
    for (const address of [
      `http://${hostname}/`,
      `http://${hostname}:22/`,
      `http://${hostname}:${Number(port) + 65_536}/`,
      `http://${hostname}:${port}0/`,
      `https://${hostname}:${port}/`,
      `http://${hostname}.:1/`,
      `http://localhost:${port}/must-not-arrive`,
      `http://0:${port}/must-not-arrive`,
      `http://[::1]:${port}/must-not-arrive`,
    ]) {
      try {
        const { status } = await ctx.fetch(address)
        found.push(`ESCAPED ${address} ${status}`)
      } catch {}
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
