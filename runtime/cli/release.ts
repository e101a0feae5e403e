/** `keyway release`: ends the quarantine of a connector on the running host. */
import { normalizeId } from '../contract/connector/manifest.ts'
import { ask, connectorPath, print } from './operator/change.ts'
import { requireConnector } from './operator/known.ts'
import type { ReadFlags } from './terminal/options.ts'

type Row = { id: string | null; state: string; reason: string | null }

export async function release(id: string, flags: ReadFlags & { dryRun?: true }): Promise<void> {
  if (flags.dryRun) return tell(id, flags)
  const path = connectorPath(id, 'release')
  const answer = await ask<{ id: string; released: boolean }>(flags, path, { method: 'POST' })
  print(flags, answer, ({ released }) =>
    released ? `${id} accepts calls again` : `${id} was neither under suspicion nor in quarantine`,
  )
}

/** Prints what the connector would be released from. */
async function tell(id: string, flags: ReadFlags): Promise<void> {
  await requireConnector(flags, id)
  const { items } = await ask<{ items: Row[] }>(flags, '/operator/connectors')
  const rows = items.filter((one) => one.id !== null && normalizeId(one.id) === normalizeId(id))
  const held = rows.find(({ state }) => state === 'suspect' || state === 'quarantined')
  print(flags, { id, would_release: held !== undefined, reason: held?.reason ?? null }, () =>
    held
      ? `${id} is ${held.state === 'suspect' ? 'under suspicion' : 'in quarantine'}: ${held.reason}. It would accept calls again.`
      : `${id} is neither under suspicion nor in quarantine; nothing would change.`,
  )
}
