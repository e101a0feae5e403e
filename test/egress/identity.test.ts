/** The time limit of a sign-in at a provider. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { KnownProvider } from '../../runtime/contract/models/sign-in-provider.ts'
import { createIdentity } from '../../runtime/egress/identity/identity.ts'

const ISSUER = 'https://id.example'
const provider: KnownProvider = {
  ...{ id: 'one', name: 'One', issuer: ISSUER, client_id: 'keyway', secret: null },
  ...{ scopes: ['openid'], person_claim: 'email', groups_claim: 'groups' },
  ...{ roles: [], unknown_people: 'refuse' },
}

test('the time limit of a sign-in includes slow metadata', async () => {
  const metadata = { issuer: ISSUER, token_endpoint: `${ISSUER}/token` }
  const limits = { askMs: 60_000, wholeMs: 4000 }
  const identity = createIdentity(async ({ url, signal }) => {
    if (url.includes('/.well-known/')) {
      await pause(3000)
      const headers: [string, string][] = [['content-type', 'application/json']]
      return { ok: true, status: 200, headers, body: Buffer.from(JSON.stringify(metadata)) }
    }
    if (!signal.aborted) await once(signal, 'abort')
    return { ok: false, problem: 'it took too long' }
  }, limits)
  const answer = {
    params: new URLSearchParams({ code: 'c', state: 's' }),
    ...{ redirectUri: 'https://keyway.example/', state: 's', nonce: 'n', verifier: 'v'.repeat(43) },
  }
  const beganMs = performance.now()
  const said = await identity.finish(provider, answer)
  expect(said).toEqual({ ok: false, why: 'away', problem: 'it took too long' })
  // The limit, and a margin for a busy machine that is smaller than the time of the metadata.
  expect(performance.now() - beganMs).toBeLessThan(4000 + 2500)
})
