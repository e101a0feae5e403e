/** What happened to findings, into the activity log: webhooks of type SIEM are told it from there. */
import { FINDINGS, type FindingEvent, type FindingKind } from '../../contract/models/finding.ts'
import type { Db } from '../../database/database.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'

/** What the log says about a finding. */
export type Told = {
  id: string
  kind: FindingKind
  appId: string | null
  accountId: string | null
  userId: string | null
}

/** Findings of a kind in one transaction that are told one by one. */
const ONE_BY_ONE = 20

/** @param metadata What else is said of it. */
export const recordFinding = (
  tx: Db,
  actor: Actor,
  event: FindingEvent,
  { id, kind, appId, accountId, userId }: Told,
  metadata: Record<string, unknown> = {},
): Promise<void> =>
  recordActivity(tx, actor, event, [{ target_type: 'Finding', name: kind, id }], {
    ...{ severity: FINDINGS[kind].severity, meaning: FINDINGS[kind].meaning },
    ...{ app_id: appId, account_id: accountId, target_user_id: userId, ...metadata },
  })

/** What a look found, or found to be no more: the first look at a large app would fill the log. */
export async function recordLook(
  tx: Db,
  { domainId, appId }: { domainId: string; appId: string | null },
  what: 'OPENED' | 'RESOLVED',
  found: readonly Told[],
): Promise<void> {
  const host = { domainId, userId: null }
  for (const [kind, all] of Map.groupBy(found, (one) => one.kind)) {
    if (all.length <= ONE_BY_ONE)
      for (const one of all) await recordFinding(tx, host, `FINDING_${what}`, one)
    else
      await recordActivity(tx, host, `FINDINGS_${what}`, [], {
        ...{ kind, severity: FINDINGS[kind].severity, count: all.length, app_id: appId },
      })
  }
}
