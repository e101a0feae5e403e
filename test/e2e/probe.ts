/** Calls the fixture `probe`, which sends the requests it is given. */
import { expect } from 'vitest'
import { type Answer, failure, success, type TestHost } from './host.ts'

export type Probe = {
  url: string
  method?: string
  headers?: Record<string, string>
  body?: string
  redirect?: string
  strict?: boolean
}
export type Seen = {
  status: number
  url: string
  redirected: boolean
  headers: Record<string, string>
  text: string
}
export type Settings = { base_url?: string; second_url?: string }

export const TOKEN = 'the-token-of-the-probe'

const auth = { token: { token: TOKEN } }

/** Sends a probe through a read capability. */
export const readThrough = (host: TestHost, probe: Probe, settings: Settings): Promise<Answer> =>
  host.call('probe', 'get_account', {
    auth,
    settings,
    request: { account_id: JSON.stringify(probe) },
  })

/** Sends a probe through a write capability. */
export const writeThrough = (host: TestHost, probe: Probe, settings: Settings): Promise<Answer> =>
  host.call('probe', 'update_account', { auth, settings, request: { id: JSON.stringify(probe) } })

/** The upstream's answer as the connector saw it. */
export const seenBy = ({ body }: Answer): Seen => success<{ extra_data: Seen }>(body).extra_data

/** The message of a refusal by policy. */
export function refusal(answer: Answer): string {
  const { error_code, raised_by, message, raised_in } = failure(answer)
  expect({ error_code, raised_by }).toEqual({
    error_code: 'permission_denied',
    raised_by: 'Keyway.EgressPolicy',
  })
  expect(raised_in).toMatch(/^probe:/)
  return message
}
