/** Valid calls of the fixture `several-parts`. */
import { expect } from 'vitest'
import type { Received, Sent } from './client.ts'
import { success, type TestHost } from './host.ts'

export const json = { 'content-type': 'application/json' }
export const credentials = [{ id: 'api', token: { token: 'the-token-of-the-api' } }]
export const settings = { host: 'api.example.com' }
export const envelope = { credentials, settings, request: { account_id: 'a-1' } }
export const AT = '/connectors/several-parts/get_account'

export const post = (
  host: TestHost,
  at: string,
  body: NonNullable<Sent['body']>,
  headers: Record<string, string> = json,
): Promise<Received> => host.send(at, { method: 'POST', headers, body })

/** Checks that the connector answers, so that earlier requests had no effect on it. */
export async function expectFine(host: TestHost): Promise<void> {
  const { body } = await host.call('several-parts', 'get_account', envelope)
  expect(success(body)).toMatchObject({ integration_specific_id: 'a-1' })
}
