/** Tests an upstream that rate-limits most requests: a real server with its own limiter. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missing, type RealSystem, serviceToken, startSystem } from '../real-systems/start.ts'
import { failure, startHost, type TestHost } from './host.ts'

const why = missing()
type Account = { integration_specific_id: string }

/** Requests that the server accepts per window. */
const LIMIT = '20'

describe.skipIf(why !== null)(`a limit of ${LIMIT} requests${why ? ` (${why})` : ''}`, () => {
  let system: RealSystem
  let host: TestHost

  async function start(windowMs: string, env: Record<string, string> = {}) {
    system = await startSystem('oidc-scim', { RATE_LIMIT: LIMIT, RATE_WINDOW_MS: windowMs })
    const { host: at } = new URL(system.baseUrl)
    host = await startHost({ env: { KEYWAY_PRIVATE_EGRESS: `scim=${at}`, ...env } })
  }
  async function stop() {
    await host?.stop()
    await system?.stop()
  }
  const envelope = async () => ({
    auth: { token: { token: await serviceToken(system, 'scim.read') } },
    settings: { base_url: system.baseUrl },
    request: {},
  })

  describe('that resets within the deadline', () => {
    beforeAll(() => start('2000'))
    afterAll(stop)

    test('is not visible to the caller: a listing of 36 pages is complete', async () => {
      const pages = await host.pages<Account>('scim', 'list_accounts', await envelope(), 7)
      const ids = pages.flat().map((one) => one.integration_specific_id)
      expect(ids).toHaveLength(250)
      expect(new Set(ids).size).toBe(250)
    })
  })

  describe('that resets after the deadline', () => {
    beforeAll(() => start('30000', { KEYWAY_MAX_DEADLINE_MS: '2000' }))
    afterAll(stop)

    test('is reported as rate_limit with a hint', async () => {
      const asked = { ...(await envelope()), page: { size: 1 } }
      let last = await host.call('scim', 'list_accounts', asked)
      for (let call = 0; call < 30 && !last.body.error; call += 1)
        last = await host.call('scim', 'list_accounts', asked)
      const { error_code, message } = failure(last)
      expect(error_code).toBe('rate_limit')
      expect(message).toMatch(/try again (after|in) \d+/)
    })
  })
})
