/** Texts of callers, apps and webhooks are truncated correctly, also in the middle of a surrogate pair. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failedCall } from '../../../runtime/core/provisioning/client.ts'
import { app, type CoreHost, type Person, person } from '../host.ts'
import { answering, type Receiver } from '../webhooks/receiver.ts'
import type { Company } from './company.ts'
import { type Hooked, startHooked } from './hooked.ts'

let hooked: Hooked
let receiver: Receiver
let core: CoreHost
let acme: Company
let ada: Person

beforeAll(async () => {
  hooked = await startHooked()
  ;({ receiver, core, acme } = hooked)
  ada = await person(core.db, 'ada@acme.example')
})
afterAll(() => hooked.stop())

/** A text whose last character is a surrogate pair that straddles the length. */
const across = (length: number): string => `${'a'.repeat(length - 1)}😀`

async function validatedApp(name: string): Promise<string> {
  const made = await core.call('POST', '/operator/webhooks', {
    body: { hook_type: 'REQUEST_VALIDATION', name, url: receiver.url, headers: {} },
  })
  return acme.inStore(await app(core.db, name), {
    request_validation_inline_webhook: { id: made.body.webhook.id },
  })
}

/** Log metadata of the last answer of a validation webhook. */
async function lastValidation(): Promise<Record<string, unknown>> {
  const { body } = await core.call('GET', '/activity_logs?limit=100')
  const rows = body.items.filter(({ event_type }: { event_type: string }) =>
    event_type.includes('REQUEST_VALIDATION'),
  )
  return rows.at(-1).event_metadata
}

describe('a surrogate pair at the point of truncation', () => {
  it('does not prevent the cancellation of a request', async () => {
    const id = await acme.asked(ada, { app_id: await acme.inStore(await app(core.db, 'Back')) })
    const reason = encodeURIComponent(across(1000))
    const path = `/appstore/access_requests/${id}?reason=${reason}`
    expect((await core.call('DELETE', path, { token: ada.token })).status).toBe(204)
    expect((await acme.read(id)).notes.CANCELLED).toBe('a'.repeat(999))
  })

  it('does not prevent a request for a permission with that label', async () => {
    const appId = await acme.inStore(await app(core.db, 'Label'))
    const permission = await acme.synced(appId, across(200), {
      entitlementType: 'role',
      entitlementId: 'r1',
      resourceType: '',
      resourceId: '',
    })
    const { status } = await acme.ask(ada, {
      app_id: appId,
      requestable_permission_ids: [permission],
    })
    expect(status).toBe(201)
  })

  it('does not prevent a webhook from denying a request', async () => {
    const answer = { response: { valid: false, reason: across(1000) } }
    receiver.answer(answering(200, JSON.stringify(answer)))
    const id = await acme.asked(ada, { app_id: await validatedApp('Refusing') })
    await acme.reaches(id, 'DENIED')
  })

  it('does not prevent the creation of a policy with that name', async () => {
    const { status } = await core.call('POST', '/access_policies', {
      body: {
        name: across(200),
        business_justification: 'tried',
        apps: [{ id: await app(core.db, 'Policy') }],
        is_everyone_condition: true,
      },
    })
    expect(status).toBe(200)
  })
})

it('the error message of a connector is kept, with invalid characters replaced', () => {
  const outcome = failedCall({ error_code: 'api_error', message: 'a\u0000b\ud83d' })
  expect(outcome).toMatchObject({ problem: 'a\ufffdb\ufffd (api_error)' })
})

describe('the answer of a webhook', () => {
  it('does not fill the log with an oversized validity', async () => {
    const answer = { response: { valid: 'x'.repeat(100_000) } }
    receiver.answer(answering(200, JSON.stringify(answer)))
    const id = await acme.asked(ada, { app_id: await validatedApp('Talkative') })
    await acme.reaches(id, 'PENDING_APPROVAL')
    expect(await lastValidation()).toMatchObject({ valid: null })
  })

  it('does not fill the log or a note with oversized property names', async () => {
    const answer = { response: { ['k'.repeat(100_000)]: '\u0000' } }
    receiver.answer(answering(200, JSON.stringify(answer)))
    const id = await acme.asked(ada, { app_id: await validatedApp('Odd names') })
    await acme.reaches(id, 'PENDING_APPROVAL')
    const { PENDING_APPROVAL: note } = (await acme.read(id)).notes
    expect(note).toContain('kkk')
    expect(note.length).toBeLessThan(2000)
    expect(JSON.stringify(await lastValidation())).not.toContain('kkk')
  })
})
