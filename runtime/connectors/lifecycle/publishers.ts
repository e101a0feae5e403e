/** Whose packages an operator trusts: what they have signed is judged again with each change. */
import { readPublicKey } from '../packages/sign.ts'
import { distrusting, trusting } from './desired-state.ts'
import { type ChangeOutcome, commit } from './generations.ts'
import type { ChangeOptions, OperateDeps } from './operating.ts'
import { judgedAnew } from './packages.ts'

/** @throws PackageError for what is no key */
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
