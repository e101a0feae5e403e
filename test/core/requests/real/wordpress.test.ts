/** A role of a real WordPress for an hour: requested, approved, used, and expired. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessRequests } from '../../../../runtime/database/schema/requests.ts'
import { until } from '../../../e2e/until.ts'
import { noWordPress, startWordPress, type WordPress } from '../../../real-systems/wordpress.ts'
import { type CoreHost, person, startCore } from '../../host.ts'
import { type Company, company } from '../company.ts'

const HOUR_SECONDS = 3600
const EMAIL = 'user002@example.com'

describe.skipIf(noWordPress !== null)(
  `a role of WordPress${noWordPress ? ` (${noWordPress})` : ''}`,
  () => {
    let site: WordPress
    let core: CoreHost
    let acme: Company
    let appId: string

    beforeAll(async () => {
      site = await startWordPress()
      core = await startCore({
        KEYWAY_PRIVATE_EGRESS: `wordpress=${new URL(site.baseUrl).host}`,
      })
      acme = company(core)
      await core.host.settled
      appId = await acme.connected({
        app_class_id: 'wordpress',
        auth: site.auth,
        settings: { base_url: site.baseUrl },
      })
      await core.call('POST', `/apps/${appId}/sync`, { body: { sync_type: 'full_sync' } })
      await until('the sync has succeeded', async () => {
        const { body } = await core.call('GET', `/apps/${appId}`)
        return body.sync_status === 'SUCCESS'
      })
    }, 180_000)
    afterAll(async () => {
      await core?.stop()
      await site?.stop()
    })

    it('lets a person edit for an hour, and no longer', async () => {
      const editor = await site.personal(EMAIL)
      /** The status of an attempt by the person to edit another person's post. */
      const edits = async () => (await editor('POST', '/wp/v2/posts/1', { title: 'Edited' })).status
      expect(await edits()).toBe(403)

      const { body } = await core.call(
        'GET',
        `/appstore/requestable_permissions?app_id=${appId}&search_term=Editor&size=100`,
      )
      const [permission] = body.items
      await core.call('PATCH', `/appstore/requestable_permissions/${permission.id}`, {
        body: { request_config: { appstore_visibility: 'VISIBLE' } },
      })
      const id = await acme.asked(await person(core.db, EMAIL), {
        app_id: appId,
        requestable_permission_ids: [permission.id],
        expiration_in_seconds: HOUR_SECONDS,
        note: 'the editor is ill',
      })
      await acme.settle(id, 'complete')
      await acme.reaches(id, 'COMPLETED')
      expect(await edits()).toBe(200)
      expect((await site.user('user002'))?.roles.sort()).toEqual(['editor', 'subscriber'])

      // The hour is over.
      const over = new Date(Date.now() - 1000)
      await core.db
        .update(accessRequests)
        .set({ expiresAt: over, wakeAt: over })
        .where(eq(accessRequests.id, id))
      await acme.reaches(id, 'TIME_BASED_EXPIRED')
      expect(await edits()).toBe(403)
      expect((await site.user('user002'))?.roles).toEqual(['subscriber'])
    })
  },
)
