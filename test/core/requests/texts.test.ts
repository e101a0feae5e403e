/** Texts of callers, of apps and of webhooks that are cut to a length, wherever the cut falls. */
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

/** A text whose last character is a pair of code units that lies across a length. */
const across = (length: number): string => `${'a'.repeat(length - 1)}😀`

async function validatedApp(name: string): Promise<string> {
  const made = await core.call('POST', '/operator/webhooks', {
    body: { hook_type: 'REQUEST_VALIDATION', name, url: receiver.url, headers: {} },
  })
  return acme.inStore(await app(core.db, name), {
    request_validation_inline_webhook: { id: made.body.webhook.id },
  })
}

/** What the log says of the last answer of a validation webhook. */
async function judged(): Promise<Record<string, unknown>> {
  const { body } = await core.call('GET', '/activity_logs?limit=100')
  const rows = body.items.filter(({ event_type }: { event_type: string }) =>
    event_type.includes('REQUEST_VALIDATION'),
  )
  return rows.at(-1).event_metadata
}

describe('a character of two code units at the cut', () => {
  it('does not stand in the way of taking a request back', async () => {
    const id = await acme.asked(ada, { app_id: await acme.inStore(await app(core.db, 'Back')) })
    const reason = encodeURIComponent(across(1000))
    const path = `/appstore/access_requests/${id}?reason=${reason}`
    expect((await core.call('DELETE', path, { token: ada.token })).status).toBe(204)
    expect((await acme.read(id)).notes.CANCELLED).toBe('a'.repeat(999))
  })

  it('does not keep anybody from asking for a permission of that name', async () => {
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

  it('does not keep a webhook from refusing', async () => {
    const answer = { response: { valid: false, reason: across(1000) } }
    receiver.answer(answering(200, JSON.stringify(answer)))
    const id = await acme.asked(ada, { app_id: await validatedApp('Refusing') })
    await acme.reaches(id, 'DENIED')
  })

  it('does not keep anybody from making a policy of that name', async () => {
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

it('keeps what a connector says of a failure, whatever stands in it', () => {
  const outcome = failedCall({ error_code: 'api_error', message: 'a\u0000b\ud83d' })
  expect(outcome).toMatchObject({ problem: 'a\ufffdb\ufffd (api_error)' })
})

describe('what a webhook answers', () => {
  it('does not fill the log, whatever it says of validity', async () => {
    const answer = { response: { valid: 'x'.repeat(100_000) } }
    receiver.answer(answering(200, JSON.stringify(answer)))
    const id = await acme.asked(ada, { app_id: await validatedApp('Talkative') })
    await acme.reaches(id, 'PENDING_APPROVAL')
    expect(await judged()).toMatchObject({ valid: null })
  })

  it('does not fill the log or a note with its own names either', async () => {
    const answer = { response: { ['k'.repeat(100_000)]: '\u0000' } }
    receiver.answer(answering(200, JSON.stringify(answer)))
    const id = await acme.asked(ada, { app_id: await validatedApp('Odd names') })
    await acme.reaches(id, 'PENDING_APPROVAL')
    const { PENDING_APPROVAL: note } = (await acme.read(id)).notes
    expect(note).toContain('kkk')
    expect(note.length).toBeLessThan(2000)
    expect(JSON.stringify(await judged())).not.toContain('kkk')
  })
})
