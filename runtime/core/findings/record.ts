/** Recording changes of findings in the activity log, from which SIEM webhooks are fed. */
import { FINDINGS, type FindingEvent, type FindingKind } from '../../contract/models/finding.ts'
import type { Db } from '../../database/database.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'

/** Fields of a finding that the log records. */
export type LoggedFinding = {
  id: string
  kind: FindingKind
  appId: string | null
  accountId: string | null
  userId: string | null
}

/** Maximum number of findings of one kind per transaction that are logged one by one. */
const ONE_BY_ONE = 20

/** Records an event of a finding. @param metadata further fields of the log entry */
export const recordFinding = (
  tx: Db,
  actor: Actor,
  event: FindingEvent,
  { id, kind, appId, accountId, userId }: LoggedFinding,
  metadata: Record<string, unknown> = {},
): Promise<void> =>
  recordActivity(tx, actor, event, [{ target_type: 'Finding', name: kind, id }], {
    ...{ severity: FINDINGS[kind].severity, meaning: FINDINGS[kind].meaning },
    ...{ app_id: appId, account_id: accountId, target_user_id: userId, ...metadata },
  })

/**
 * Records the findings that a look opened or resolved. Large numbers are logged as one entry per kind, so
 * that the first look at a large app does not flood the log.
 */
export async function recordLook(
  tx: Db,
  { domainId, appId }: { domainId: string; appId: string | null },
  what: 'OPENED' | 'RESOLVED',
  found: readonly LoggedFinding[],
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
