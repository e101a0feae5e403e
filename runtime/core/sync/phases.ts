/** Phases of a run. Each continues from its checkpoint until it is done or the walk is over. */
import type { SyncPhase } from '../../contract/models/sync.ts'
import { recordSpansOfRun } from '../history/spans.ts'
import { ACCOUNTS } from './accounts.ts'
import { walkActivity } from './activity.ts'
import { ASSOCIATIONS } from './associations.ts'
import { beginCount, guardDeletions } from './deletion-guard.ts'
import { ENTITLEMENTS, RESOURCES } from './entitlements.ts'
import { walkExpenses } from './expenses.ts'
import { settleSyncTask } from './failures.ts'
import { syncGroups } from './groups.ts'
import { walkListing } from './listing.ts'
import { match } from './match.ts'
import { syncLeavers, syncManagers } from './organisation.ts'
import { syncPeople } from './people.ts'
import { syncPermissions } from './permissions.ts'
import { deleteMissingAssociations, markAccounts, markEntitlements } from './remove-missing.ts'
import { endRun, type Walk, WITH_LONG_STATEMENTS } from './runs.ts'
import { notifyUsersChanged } from './users-changed.ts'

type Phase = (walk: Walk) => Promise<void>

export const PHASES: Record<SyncPhase, Phase> = {
  begin: beginCount,
  accounts: (walk) => walkListing(walk, ACCOUNTS),
  resources: (walk) => walkListing(walk, RESOURCES),
  entitlements: (walk) => walkListing(walk, ENTITLEMENTS),
  associations: async (walk) => {
    await walkListing(walk, ASSOCIATIONS)
    // If the phase has not ended, only the turn is over and the same walk may continue.
    if (walk.run.phase !== 'associations') walk.known.forget()
  },
  activity: walkActivity,
  judge: guardDeletions,
  accounts_gone: markAccounts,
  // Entitlements are marked, associations deleted.
  rest_gone: async (walk) => {
    await markEntitlements(walk)
    await deleteMissingAssociations(walk)
  },
  match,
  people: syncPeople,
  managers: syncManagers,
  groups: syncGroups,
  leavers: syncLeavers,
  tell: notifyUsersChanged,
  permissions: syncPermissions,
  expenses: walkExpenses,
  end: (walk) =>
    walk.db.transaction(async (tx) => {
      // First, because `endRun` locks the run: a host that renews its lease would wait for the whole of this.
      await recordSpansOfRun(tx, walk.run)
      await endRun(tx, walk, { state: 'SUCCEEDED', problem: null })
      await settleSyncTask(tx, walk.app)
      await walk.parts.listeners.accessChanged(tx, {
        domainId: walk.app.domainId,
        appId: walk.app.id,
      })
    }, WITH_LONG_STATEMENTS),
}
