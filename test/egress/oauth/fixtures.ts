/** The OAuth capabilities with their real egress, against servers of the test on loopback. */
import * as v from 'valibot'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import type { OAuthCapability } from '../../../runtime/contract/connector/oauth.ts'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { createEgress } from '../../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../../runtime/egress/limits/grants.ts'
import {
  createOAuth,
  type OAuthAnswer,
  type OAuthDeps,
} from '../../../runtime/egress/oauth/perform.ts'
import { manifestOf } from '../../connectors/registry/fixtures/folders.ts'

export const CLIENT = { client_id: 'the-client', client_secret: 'the-secret-of-the-client' }

export type Declared = Record<string, unknown>

/** A manifest with one credential and this declaration. */
export const declaring = (oauth: Declared, more: object = {}): Manifest =>
  v.parse(
    Manifest,
    manifestOf({
      authentication_schema: { kind: 'oauth' },
      settings: { base_url: { type: 'string', format: 'url' } },
      capabilities: { list_accounts: {}, get_account: {} },
      oauth: { token_url: '{settings.base_url}/token', ...oauth },
      ...more,
    }),
  )

const alone: OAuthDeps['once'] = (_key, find) => find()

/**
 * Opens the capabilities for a manifest whose server listens at `origin`. `manifestNow` returns the current
 * manifest, for tests that revoke it.
 */
export function open(
  manifest: Manifest,
  origin: string,
  once = alone,
  manifestNow = () => manifest,
) {
  const { host } = new URL(origin)
  const egress = createEgress({
    privateGrants: parsePrivateGrants(`${manifest.id}=${host}`),
    proxy: null,
    userAgent: 'keyway/test',
  })
  const perform = createOAuth({ open: egress.open, once })
  const records: unknown[] = []
  const ask = (
    capability: OAuthCapability,
    request: object,
    { settings = {}, signal = new AbortController().signal } = {},
  ): Promise<OAuthAnswer> =>
    perform({
      connectorId: manifest.id,
      get manifest() {
        return manifestNow()
      },
      capability,
      request,
      settings: { base_url: origin, ...settings },
      signal,
      endMs: Date.now() + 20_000,
      redact: (text) => text.replaceAll(CLIENT.client_secret, '[secret]'),
      onRecord: (record) => void records.push(record),
    })
  const refusal = async (...asked: Parameters<typeof ask>) => {
    const outcome = await ask(...asked).catch((error: unknown) => error)
    if (!(outcome instanceof RuntimeError)) throw outcome
    return { code: outcome.code, message: outcome.message }
  }
  return { ask, refusal, records, judgeAgain: egress.judgeAgain, close: () => egress.close() }
}
