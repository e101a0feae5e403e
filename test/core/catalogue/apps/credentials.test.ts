import { expect, test } from 'vitest'
import { checkCredentials } from '../../../../runtime/core/catalogue/apps/credentials.ts'
import type {
  Connectors,
  ServedConnector,
} from '../../../../runtime/core/kernel/context/connectors.ts'
import type { RequestContext } from '../../../../runtime/core/kernel/context/context.ts'
import { timingOf } from '../../../../runtime/core/kernel/context/pace.ts'
import { createTokenHasher } from '../../../../runtime/core/kernel/identity/token-hasher.ts'
import { LISTENERS } from '../../../../runtime/core/wiring/listeners.ts'
import { statusOfRefusal } from '../../../../runtime/http/edge/statuses.ts'
import { createSealer } from '../../../../runtime/secrets/seal.ts'
import { createSigner } from '../../../../runtime/secrets/signing-key.ts'

test('a credentials check fails at its own time limit when the connector does not answer', async () => {
  const call: Connectors['call'] = ({ signal }) =>
    new Promise((resolve) => {
      const error = { message: 'the caller hung up', error_code: 'internal_error', app_id: 'slow' }
      signal.addEventListener('abort', () => resolve({ ok: false, error: error as never }))
    })
  const parts: RequestContext = {
    connectors: { ids: () => [], find: () => null, call },
    vault: createSealer(['s'.repeat(32)], 'connection'),
    signer: createSigner(['s'.repeat(32)]),
    hasher: createTokenHasher(['s'.repeat(32)]),
    send: async () => {},
    deliver: { refuse: () => 'nothing is delivered here', post: () => Promise.reject(new Error()) },
    tell: () => {},
    now: async () => new Date(),
    listeners: LISTENERS,
    pace: timingOf(),
    statusOfRefusal,
    requestId: 'r',
    cause: { kind: 'request', id: 'r' },
    signal: new AbortController().signal,
  }
  const manifest = { name: 'Slow', capabilities: { validate_credentials: {} } }
  const connector = { id: 'slow', manifest } as unknown as ServedConnector
  await expect(
    checkCredentials(connector, { settings: {} }, parts, { withinMs: 20 }),
  ).rejects.toMatchObject({
    kind: 'upstream_failed',
    detail: 'Slow did not answer within 0.02 seconds',
  })
})
