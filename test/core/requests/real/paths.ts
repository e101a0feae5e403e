/** Every path of a request, checked in a third-party server; run against each such server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, type Person, person } from '../../host.ts'
import { type Acme, acme } from '../../policies/acme.ts'
import type { Receiver } from '../../webhooks/receiver.ts'
import type { Company } from '../company.ts'
import { type Hooked, startHooked } from '../hooked.ts'

/** A third-party server, its app, and one entitlement in it that people request. */
export type RealAccess = {
  /** `connector=host:port`, for the operator's grant. */
  egress: string
  /** Body of POST /apps. */
  app: object
  /** Label of the permission that a sync creates for the entitlement. */
  label: string
  /** Whether the server itself reports the entitlement for a person. */
  holds(email: string): Promise<boolean>
  /** Grants it in the server, bypassing Keyway. */
  give(email: string): Promise<void>
  /** Revokes it in the server, bypassing Keyway. */
  take(email: string): Promise<void>
  stop(): Promise<void>
}

/** `why`: what is missing to start the server here, or null. */
export function describePaths(
  name: string,
  why: string | null,
  start: () => Promise<RealAccess>,
): void {
  const title = `access to ${name}${why ? ` (${why})` : ''}`
  // Concurrent, because the tests mostly wait for access to expire, and each has its own people.
  describe.skipIf(why !== null)(title, { concurrent: true }, () => {
    let system: RealAccess
    let hooked: Hooked
    let receiver: Receiver
    let core: CoreHost
    let firm: Company
    let people: Acme
    let appId: string
    let permission: string
    let count = 0

    beforeAll(async () => {
      system = await start()
      hooked = await startHooked(system.egress)
      ;({ receiver, core, acme: firm } = hooked)
      await core.host.settled
      people = acme(core)
      appId = await firm.connected(system.app)
      await core.call('POST', `/apps/${appId}/sync`, { body: { sync_type: 'full_sync' } })
      await until('the sync has succeeded', async () => {
        const { body } = await core.call('GET', `/apps/${appId}`)
        return body.sync_status === 'SUCCESS'
      })
      permission = await syncedPermission()
    })
    afterAll(async () => {
      await hooked?.stop()
      await system?.stop()
    })

    /** The permission that the sync created for the entitlement, made visible in the store. */
    async function syncedPermission(): Promise<string> {
      const { body } = await core.call(
        'GET',
        `/appstore/requestable_permissions?app_id=${appId}&search_term=${system.label}&size=100`,
      )
      const [found] = body.items
      expect(found, system.label).toMatchObject({ type: 'SYNCED' })
      const shown = { request_config: { appstore_visibility: 'VISIBLE' } }
      await core.call('PATCH', `/appstore/requestable_permissions/${found.id}`, { body: shown })
      return found.id
    }

    /** A permission created in Keyway, not found by a sync. */
    async function createPermission(label: string, config: object): Promise<string> {
      const request_config = { appstore_visibility: 'VISIBLE', ...config }
      const made = await core.call('POST', '/appstore/requestable_permissions', {
        body: { app_id: appId, label, request_config },
      })
      expect(made.body, label).toMatchObject({ type: 'NATIVE' })
      return made.body.id
    }

    async function someone(): Promise<Person & { email: string }> {
      count += 1
      const email = `person-${count}@acme.example`
      return { ...(await person(core.db, email)), email }
    }

    const requestAccess = (who: Person, id: string, more: object = {}) =>
      firm.asked(who, { app_id: appId, requestable_permission_ids: [id], ...more })

    it('is requested, approved, granted, and removed when it expires', async () => {
      const ada = await someone()
      const id = await requestAccess(ada, permission, { expiration_in_seconds: 4, note: 'on call' })
      expect(await system.holds(ada.email)).toBe(false)
      await firm.settle(id, 'complete')
      await firm.reaches(id, 'COMPLETED')
      expect(await system.holds(ada.email)).toBe(true)
      await firm.reaches(id, 'TIME_BASED_EXPIRED')
      expect(await system.holds(ada.email)).toBe(false)
    })

    it('is granted without approval under a pre-approval rule, and removed when it expires', async () => {
      const ada = await someone()
      const rule = {
        app_id: appId,
        justification: 'as agreed',
        time_based_access: ['2 hours'],
        preapproved_permissions: [{ id: permission }],
        preapproved_users_by_attribute: [{ attribute: 'email', value: ada.email }],
      }
      const made = await core.call('POST', '/appstore/pre_approval_rules', { body: rule })
      expect(made.status).toBe(201)
      const id = await requestAccess(ada, permission, { expiration_in_seconds: 4 })
      await firm.reaches(id, 'COMPLETED')
      expect(await system.holds(ada.email)).toBe(true)
      await firm.reaches(id, 'TIME_BASED_EXPIRED')
      expect(await system.holds(ada.email)).toBe(false)
    })

    it('is granted by an access policy, and removed when the person no longer matches it', async () => {
      await people.policy('Watch', [
        { id: appId, is_preapproved: true, permissions: [{ id: permission }] },
      ])
      const ada = await people.worker('watch', 'Watch')
      await people.reach(ada.id, 'COMPLETED')
      expect(await system.holds(ada.email)).toBe(true)
      await people.moveTo(ada.id, 'Finance')
      await people.reach(ada.id, 'REVERTED')
      expect(await system.holds(ada.email)).toBe(false)
    })

    it.each([
      ['denied', 'DENIED', (id: string) => firm.settle(id, 'dismiss')],
      [
        'cancelled before it is approved',
        'CANCELLED',
        (id: string) => core.call('DELETE', `/appstore/access_requests/${id}`),
      ],
    ])('is never granted when the request is %s', async (_, status, end) => {
      const ada = await someone()
      const id = await requestAccess(ada, permission)
      await end(id)
      await firm.reaches(id, status)
      expect(await system.holds(ada.email)).toBe(false)
    })

    it('is granted and revoked by the operator’s own webhooks', async () => {
      receiver.answer((reply, { text }) => {
        const { event, target } = JSON.parse(text)
        const change = event === 'PROVISION' ? system.give : system.take
        change(target.email).then(
          () => reply.end('{}'),
          (error: Error) => reply.writeHead(500).end(error.message),
        )
      })
      const id = await createPermission('By webhook', {
        request_fulfillment_config: { provisioning_webhook: await hooked.hook('PROVISION') },
        access_removal_inline_webhook: await hooked.hook('DEPROVISION'),
      })
      const ada = await someone()
      const request = await requestAccess(ada, id, { expiration_in_seconds: 4 })
      await firm.settle(request, 'complete')
      await firm.reaches(request, 'COMPLETED')
      expect(await system.holds(ada.email)).toBe(true)
      await firm.reaches(request, 'TIME_BASED_EXPIRED')
      expect(await system.holds(ada.email)).toBe(false)
    })

    it('is granted and revoked by a person who gets instructions', async () => {
      const manual_instructions = 'In its console, under People.'
      const id = await createPermission('By hand', {
        request_fulfillment_config: { manual_instructions },
      })
      const ada = await someone()
      const request = await requestAccess(ada, id, { expiration_in_seconds: 4 })
      await firm.settle(request, 'complete')
      await firm.reaches(request, 'PENDING_MANUAL_PROVISIONING')
      expect((await firm.openTask(request)).instructions).toBe(manual_instructions)
      await system.give(ada.email)
      await firm.settle(request, 'complete')
      await firm.reaches(request, 'PENDING_MANUAL_DEPROVISIONING')
      await system.take(ada.email)
      await firm.settle(request, 'complete')
      await firm.reaches(request, 'TIME_BASED_EXPIRED')
    })
  })
}
