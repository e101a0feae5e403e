/** Secrets of webhooks while KEYWAY_SECRET is rotated. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inlineWebhooks } from '../../../runtime/database/schema/app_store.ts'
import { keyId } from '../../../runtime/secrets/key-derivation.ts'
import { sealedWith } from '../../../runtime/secrets/seal.ts'
import { until } from '../../e2e/until.ts'
import { isGenuine } from '../../fixtures/readme/verify-webhook.ts'
import { type CoreHost, type CoreOptions, SECRET, startCore } from '../host.ts'
import { type Receiver, startReceiver } from './receiver.ts'

const NEW_SECRET = 'the-newest-secret-'.repeat(3)

let receiver: Receiver
let core: CoreHost

const start = (KEYWAY_SECRET: string, options?: CoreOptions) =>
  startCore({ KEYWAY_PRIVATE_EGRESS: `webhooks=${receiver.host}`, KEYWAY_SECRET }, options)
async function restart(secrets: string): Promise<void> {
  await core.stop({ keep: true })
  core = await start(secrets, { from: core.dataDir })
}

beforeAll(async () => {
  receiver = await startReceiver()
  core = await start(SECRET)
})
afterAll(async () => {
  await core.stop()
  await receiver.close()
})

test('secrets are sealed again with the newest KEYWAY_SECRET, and the old one can be removed', async () => {
  const headers = { 'x-key': 'value-of-the-receiver' }
  const body = { hook_type: 'PROVISION', name: 'Hook', url: receiver.url, headers }
  const { webhook, secret } = (await core.call('POST', '/operator/webhooks', { body })).body
  const sealedBy = async () => {
    const own = eq(inlineWebhooks.id, webhook.id)
    const [row] = await core.db.select().from(inlineWebhooks).where(own)
    return sealedWith(row?.sealed as Buffer)
  }
  expect(await sealedBy()).toBe(keyId(SECRET))
  await restart(`${NEW_SECRET},${SECRET}`)
  await until(
    'the key is sealed with the new secret',
    async () => (await sealedBy()) === keyId(NEW_SECRET),
  )
  await restart(NEW_SECRET)
  const tried = await core.call('POST', `/operator/webhooks/${webhook.id}/test`)
  expect(tried.body).toMatchObject({ ok: true })
  const { headers: sent = {}, text = '' } = receiver.received.at(-1) ?? {}
  expect(sent['x-key']).toBe('value-of-the-receiver')
  expect(isGenuine(sent, text, secret)).toBe(true)
})
