/** What every act of an operator needs, and how packages that are kept are read. */

import type { Manifest } from '../../contract/connector/manifest.ts'
import type { Want } from '../../contract/endpoints/generation.ts'
import type { PackageFinding } from '../../contract/endpoints/operator.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { messageOf } from '../../contract/errors/thrown.ts'
import type { Doer } from '../../core/kernel/audit/activity.ts'
import { isAway } from '../../database/away.ts'
import type { Db } from '../../database/database.ts'
import type { Package } from '../packages/format.ts'
import type { Incompatibility } from '../registry/compatibility.ts'
import type { BrokenApp } from './dependents.ts'
import type { Wish } from './generations.ts'
import type { Probe } from './probes.ts'

/** Which packages may be installed: signed by a publisher that the operator trusts, or any that is not invalid. */
export type InstallPolicy = 'trusted' | 'any'

export type OperateDeps = {
  db: Db
  actor: Doer
  /** E-mail address of the actor. */
  email: string
  policy: InstallPolicy
  /** What is wrong with a package, its cases included; null for the manifest of one that cannot serve. */
  check(one: Package): Promise<{ findings: PackageFinding[]; manifest: Manifest | null }>
  /** The manifest of a package that is kept. */
  manifestOf(digest: string): Promise<Manifest>
  /** Calls a version as it will serve; @returns what went wrong, as text */
  tryOut(digest: string, grants: readonly Want[], probe: Probe | null): Promise<string | null>
  probeOf(id: string): Promise<Probe | null>
  /** The connected apps that a version would break by what was found. */
  brokenApps(id: string, manifest: Manifest, findings: Incompatibility[]): Promise<BrokenApp[]>
}

export type ChangeOptions = Omit<Wish, 'action'>

/**
 * The manifest of a package that is kept, or null for one that cannot be used here any more: what stands in
 * the way of its own serving must not stand in the way of what replaces it.
 */
export async function readable(
  { manifestOf }: Pick<OperateDeps, 'manifestOf'>,
  digest: string,
): Promise<Manifest | null> {
  try {
    return await manifestOf(digest)
  } catch (error) {
    // Why is told where connectors are listed.
    if (isAway(error)) throw error
    return null
  }
}

/** @throws RuntimeError state_conflict with the reason, for a package that cannot be used here */
export async function usable(
  { manifestOf }: OperateDeps,
  id: string,
  digest: string,
): Promise<Manifest> {
  return manifestOf(digest).catch((cause) => {
    if (isAway(cause)) throw cause
    const why = `${id} ${digest.slice(0, 12)} cannot be used: ${messageOf(cause)}`
    throw new RuntimeError('state_conflict', why, {}, cause)
  })
}
