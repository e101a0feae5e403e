/**
 * Enabling, disabling and removing connectors, rollbacks, and trusted publishers. Packages signed by a
 * publisher are judged again with each change of its trust.
 */

import { entryOf } from '../../contract/endpoints/generation.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { readPublicKey } from '../packages/sign.ts'
import { uncovered, wantsOf } from '../registry/requested-grant.ts'
import {
  distrusting,
  granted,
  removed,
  requireTrust,
  rolledBack,
  switched,
  trusting,
} from './desired-state.ts'
import { describeWants } from './difference.ts'
import { type ChangeOutcome, commit, statementOf } from './generations.ts'
import { chosen } from './grants.ts'
import { type ChangeOptions, type OperateDeps, usable } from './operating.ts'
import { judgedAnew } from './packages.ts'
import { forgetProbe } from './probes.ts'

export const switchOff = (
  { db, actor }: OperateDeps,
  id: string,
  { atOnce, ...change }: ChangeOptions & { atOnce: boolean },
): Promise<ChangeOutcome> =>
  commit(db, actor, { ...change, action: 'disable' }, (now) =>
    switched(now, id, { disabled: true, atOnce }),
  )

export const switchOn = ({ db, actor }: OperateDeps, id: string, change: ChangeOptions) =>
  commit(db, actor, { ...change, action: 'enable' }, (now) =>
    switched(now, id, { disabled: false, atOnce: false }),
  )

export const remove = ({ db, actor }: OperateDeps, id: string, change: ChangeOptions) =>
  commit(db, actor, { ...change, action: 'remove' }, async (now, tx) => {
    const after = removed(now, id)
    // The next package installed under this id must not be tested with these credentials.
    if (!change.dryRun) await forgetProbe(tx, actor.domainId, id)
    return after
  })

/**
 * Serves what an earlier generation served. Versions that keep serving do so with their current grants; only
 * returning versions must have all that they want.
 *
 * @throws CoreError `not_found` for an unknown generation; RuntimeError state_conflict for missing grants
 */
export async function rollBack(
  deps: OperateDeps,
  { to, grant: selection, ...change }: ChangeOptions & { to: number; grant: 'all' | string[] },
): Promise<ChangeOutcome> {
  const { db, actor } = deps
  const then = await statementOf(db, actor.domainId, to)
  if (!then) throw new CoreError('not_found', `There is no generation ${to}`)
  return commit(db, actor, { ...change, action: 'rollback' }, async (now, tx) => {
    const at = new Date().toISOString()
    let after = await judgedAnew(tx, actor.domainId, rolledBack(now, then, at))
    for (const [key, connector] of Object.entries(after.connectors)) {
      const { active } = connector
      if (active === null || active === entryOf(now, key)?.active) continue
      requireTrust(connector, active)
      const manifest = await usable(deps, connector.id, active)
      const missing = uncovered(wantsOf(manifest), connector.grants)
      const given = chosen(deps, missing, selection, change.reason)
      const still = uncovered(missing, given)
      if (still.length > 0)
        throw new RuntimeError(
          'state_conflict',
          `${connector.id} ${manifest.version} wants what is not granted any more: ${describeWants(still).join('; ')}. Roll back with a grant of it`,
          { raw: { wants: still } },
        )
      after = granted(after, connector.id, given)
    }
    return after
  })
}

/** Trusts a publisher's key. @throws PackageError if it is not a key */
export function trust(
  { db, actor }: OperateDeps,
  { name, publicKey, ...change }: ChangeOptions & { name: string; publicKey: string },
): Promise<ChangeOutcome> {
  const { id: key } = readPublicKey(publicKey)
  const trusted_at = new Date().toISOString()
  return commit(db, actor, { ...change, action: 'trust' }, (now, tx) =>
    judgedAnew(
      tx,
      actor.domainId,
      trusting(now, { key, name, public_key: publicKey, trusted_at, revoked_at: null }),
    ),
  )
}

export const distrust = (
  { db, actor }: OperateDeps,
  key: string,
  change: ChangeOptions,
): Promise<ChangeOutcome> =>
  commit(db, actor, { ...change, action: 'distrust' }, (now, tx) =>
    judgedAnew(tx, actor.domainId, distrusting(now, key, new Date().toISOString())),
  )
