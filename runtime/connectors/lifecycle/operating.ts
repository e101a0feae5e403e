/** Dependencies shared by all operations of an operator, and reading of kept packages. */

import type { Manifest } from '../../contract/connector/manifest.ts'
import type { Want } from '../../contract/endpoints/generation.ts'
import type { PackageFinding } from '../../contract/endpoints/operator.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { messageOf } from '../../contract/errors/thrown.ts'
import type { Doer } from '../../core/kernel/audit/activity.ts'
import type { Db } from '../../database/database.ts'
import { isDatabaseUnavailable } from '../../database/unavailable.ts'
import type { Package } from '../packages/format.ts'
import type { Incompatibility } from '../registry/compatibility.ts'
import type { BrokenApp } from './dependents.ts'
import type { RequestedChange } from './generations.ts'
import type { Probe } from './probes.ts'

/** Which packages may be installed: those signed by a trusted publisher, or all that are not invalid. */
export type InstallPolicy = 'trusted' | 'any'

export type OperateDeps = {
  db: Db
  actor: Doer
  /** E-mail address of the actor. */
  email: string
  policy: InstallPolicy
  /** Checks a package with its cases. Returns the findings, and the manifest or null if it cannot serve. */
  check(one: Package): Promise<{ findings: PackageFinding[]; manifest: Manifest | null }>
  /** Reads the manifest of a kept package. */
  manifestOf(digest: string): Promise<Manifest>
  /** Calls a version as it will serve. @returns what went wrong, as text */
  tryOut(digest: string, grants: readonly Want[], probe: Probe | null): Promise<string | null>
  probeOf(id: string): Promise<Probe | null>
  /** Returns the connected apps that a version would break, given the findings. */
  brokenApps(id: string, manifest: Manifest, findings: Incompatibility[]): Promise<BrokenApp[]>
}

export type ChangeOptions = Omit<RequestedChange, 'action'>

/**
 * Reads the manifest of a kept package, or null if it can no longer be used here: what prevents it from
 * serving must not prevent its replacement.
 */
export async function readable(
  { manifestOf }: Pick<OperateDeps, 'manifestOf'>,
  digest: string,
): Promise<Manifest | null> {
  try {
    return await manifestOf(digest)
  } catch (error) {
    // The list of connectors shows the reason.
    if (isDatabaseUnavailable(error)) throw error
    return null
  }
}

/**
 * Reads the manifest. @throws RuntimeError state_conflict with the reason if the package cannot be used here
 */
export async function usable(
  { manifestOf }: OperateDeps,
  id: string,
  digest: string,
): Promise<Manifest> {
  return manifestOf(digest).catch((cause) => {
    if (isDatabaseUnavailable(cause)) throw cause
    const why = `${id} ${digest.slice(0, 12)} cannot be used: ${messageOf(cause)}`
    throw new RuntimeError('state_conflict', why, {}, cause)
  })
}
