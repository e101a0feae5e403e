/** Calls one connector for a thousand tenants, each for the first time. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { code, manifest, withToken } from '../fixtures/folders.ts'
import { startHost, success, type TestHost } from './host.ts'

const TENANTS = 1000
const AT_ONCE = 8

let host: TestHost
beforeAll(async () => {
  host = await startHost({
    connectors: {
      many: {
        'connector.json': manifest('many', { settings: { tenant: { type: 'string' } } }),
        'connector.ts': code(
          `list_accounts: (_request, ctx) => {
            seen.push(ctx.settings.tenant)
            return seen.map((integration_specific_id) => ({ integration_specific_id }))
          },`,
          'const seen: string[] = []',
        ),
      },
    },
  })
})
afterAll(() => host.stop())

test('each tenant is served by its own isolate, in one worker that is not restarted', async () => {
  const ids = Array.from({ length: TENANTS }, (_, tenant) => `tenant-${tenant}`)
  const lane = () => host.host.lanes.states()[0]
  const wrong: string[] = []
  let next = 0
  let most = 0
  const caller = async (): Promise<void> => {
    while (next < ids.length) {
      const id = ids[next++] as string
      const envelope = { ...withToken(), settings: { tenant: id } }
      const { body } = await host.call('many', 'list_accounts', envelope)
      const found = success<{ integration_specific_id: string }[]>(body)
      if (found.some((one) => one.integration_specific_id !== id)) wrong.push(JSON.stringify(found))
      most = Math.max(most, lane()?.isolates ?? 0)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
  expect(wrong).toEqual([])
  expect(most).toBeLessThanOrEqual(64)
  expect(lane()).toMatchObject({ deaths: 0, calls: 0, waiting: 0 })
})
