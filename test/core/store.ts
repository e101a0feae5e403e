/** Fixtures for tests of the app store: webhooks, synced permissions and expected bodies. */
import { FINDING_EVENTS } from '../../runtime/contract/models/finding.ts'
import type { Db } from '../../runtime/database/database.ts'
import { inlineWebhooks, requestablePermissions } from '../../runtime/database/schema/app_store.ts'
import { type CoreHost, domainOf } from './host.ts'

type HookType = (typeof inlineWebhooks.$inferInsert)['hookType']

export async function webhook(db: Db, hookType: HookType, domain?: string): Promise<string> {
  const domainId = domain ?? (await domainOf(db))
  const [row] = await db
    .insert(inlineWebhooks)
    .values({ domainId, hookType, name: `${hookType} hook`, description: null })
    .returning()
  return row?.id ?? ''
}

/** A permission as a sync would create it. */
export async function syncedPermission(db: Db, appId: string, label: string): Promise<string> {
  const domainId = await domainOf(db)
  const [row] = await db
    .insert(requestablePermissions)
    .values({ domainId, appId, label, type: 'SYNCED' })
    .returning()
  return row?.id ?? ''
}

export const userBody = (id: string, email: string) => ({
  id,
  email,
  given_name: email.split('@')[0],
  family_name: 'Test',
  status: 'ACTIVE',
})

export const groupBody = (id: string, name: string) => ({
  id,
  app_id: '',
  integration_specific_id: '',
  name,
  description: '',
  group_lifecycle: 'NATIVE',
  source_app_id: '',
})

/** Type and metadata of the newest log entries, without findings, which the host records at any time. */
export async function lastEvents(core: CoreHost, count: number) {
  const { total } = (await core.call('GET', '/activity_logs?limit=1')).body
  const offset = Math.max(0, total - 100)
  const { body } = await core.call('GET', `/activity_logs?limit=100&offset=${offset}`)
  type Entry = { event_type: string; event_metadata: unknown; targets: unknown[] }
  return (body.items as Entry[])
    .filter(({ event_type: event }) => !Object.hasOwn(FINDING_EVENTS, event))
    .map((one) => [one.event_type, one.event_metadata])
    .slice(-count)
}

/** An id that does not exist. */
export const NOBODY_ID = '00000000-0000-4000-8000-000000000000'
