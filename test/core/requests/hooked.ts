/** A company and a receiver for its webhooks. */
import { type CoreHost, startCore } from '../host.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { type Company, company } from './company.ts'

export type Hooked = {
  receiver: Receiver
  core: CoreHost
  acme: Company
  /** Creates a webhook that calls the receiver, in the form that settings take. */
  hook(hook_type: string): Promise<{ id: string }>
  stop(): Promise<void>
}

/** `egress`: further private addresses that connectors may reach, as `connector=host:port`. */
export async function startHooked(...egress: string[]): Promise<Hooked> {
  const receiver = await startReceiver()
  const core = await startCore({
    KEYWAY_PRIVATE_EGRESS: [`webhooks=${receiver.host}`, ...egress].join(' '),
    KEYWAY_REQUESTS_PER_MINUTE: '100000',
  })
  return {
    receiver,
    core,
    acme: company(core),
    async hook(hook_type) {
      const body = { hook_type, name: `${hook_type} hook`, url: receiver.url, headers: {} }
      const made = await core.call('POST', '/operator/webhooks', { body })
      return { id: made.body.webhook.id }
    },
    async stop() {
      await core.stop()
      await receiver.close()
    },
  }
}
