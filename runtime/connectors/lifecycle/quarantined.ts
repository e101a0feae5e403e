/** Records that a connector was quarantined on this host, or released, even while the database is away. */
import { type Actor, recordActivity } from '../../core/kernel/audit/activity.ts'
import type { LateEntries } from '../../core/kernel/audit/late-entries.ts'
import type { Db } from '../../database/database.ts'

/**
 * Ends suspicion and quarantine in all processes of this host, and records who did it. Works without the
 * database.
 *
 * @returns null if no such connector is served; `released` is false if there was nothing to release
 */
export type ReleaseConnector = (
  id: string,
  by: (tx: Db) => Promise<Actor | null>,
) => Promise<{ id: string; released: boolean } | null>

const targetsOf = (id: string) => [{ target_type: 'Connector', name: id, id }]

/** Records a quarantine, in the name of the host. */
export const noteQuarantine = (entries: LateEntries, id: string): Promise<void> =>
  entries.write((tx, { domainId, happened }) =>
    recordActivity(
      tx,
      { domainId, userId: null },
      'CONNECTOR_QUARANTINED',
      targetsOf(id),
      happened,
    ),
  )

/**
 * Records a release. The person is looked up once the database is available; if they are unknown by then, the
 * entry names the host.
 */
export const noteRelease = (
  entries: LateEntries,
  id: string,
  by: (tx: Db) => Promise<Actor | null>,
): Promise<void> =>
  entries.write(async (tx, { domainId, happened }) => {
    const actor = (await by(tx)) ?? { domainId, userId: null }
    await recordActivity(tx, actor, 'CONNECTOR_RELEASED', targetsOf(id), happened)
  })
