/**
 * Notices about automation that an upgrade has paused. A new version must not start to act on existing
 * policies and apps by itself: migrations pause them and leave a mark. The admins are told once, and enable
 * them.
 */
import { and, eq, inArray } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { accessPolicies } from '../../database/schema/policies.ts'
import { syncSettings } from '../../database/schema/sync.ts'
import { keptText } from '../kernel/kept-text.ts'
import { openErrorTask } from './error-task.ts'

/** Mark of policies that predate automatic granting; written by migration 0014. */
const POLICY_MARK = 'paused by an upgrade'
/** Mark of apps that predate syncs; written by migration 0015. */
const SYNC_MARK = new Date(0)

/** Maximum number of names in one task. */
const MAX_NAMES = 10

/** Tells the admins of a domain what an upgrade has paused, in one task per kind. */
export async function notifyPaused(db: Db, domainId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const policies = await tx
      .update(accessPolicies)
      .set({ problem: null })
      .where(and(eq(accessPolicies.domainId, domainId), eq(accessPolicies.problem, POLICY_MARK)))
      .returning({ name: accessPolicies.name })
    if (policies.length > 0)
      await openErrorTask(tx, domainId, {
        taskType: 'ACCESS_POLICIES_PAUSED',
        description: `Earlier versions only stored access policies; this version applies them. Policies that were in force are disabled until you enable them: ${namesOf(policies)}`,
        instructions:
          'Check who gets which access from each, then enable it with PUT /access_policies/{access_policy_id} and is_enabled: true. Everyone who matches it then gets access.',
      })
    const paused = await tx
      .update(syncSettings)
      .set({ nextAt: null })
      .where(
        and(
          eq(syncSettings.domainId, domainId),
          eq(syncSettings.everyHours, 0),
          eq(syncSettings.nextAt, SYNC_MARK),
        ),
      )
      .returning({ appId: syncSettings.appId })
    if (paused.length === 0) return
    const ids = paused.map(({ appId }) => appId)
    const names = await tx.select({ name: apps.name }).from(apps).where(inArray(apps.id, ids))
    await openErrorTask(tx, domainId, {
      taskType: 'SYNCS_PAUSED',
      description: `Earlier versions did not sync apps. Apps that were already connected are not synced automatically: ${namesOf(names)}`,
      instructions:
        'Sync each once a day with `keyway sync-settings APP --every 24`, or once now with POST /apps/{app_id}/sync.',
    })
  })
}

function namesOf(all: readonly { name: string }[]): string {
  const named = all.slice(0, MAX_NAMES).map(({ name }) => `“${keptText(name, 100)}”`)
  const more = all.length > MAX_NAMES ? ` and ${all.length - MAX_NAMES} more` : ''
  return `${named.join(', ')}${more}`
}
