/** Finds breaking changes between a version and the previous one, so that authors see them before operators do. */

import { type Package, PackageError } from '../connectors/packages/format.ts'
import { checkManifest } from '../connectors/registry/check-manifest.ts'
import { compatibility } from '../connectors/registry/compatibility.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import type { PackageFinding } from '../contract/endpoints/operator.ts'
import { checkRules } from '../egress/rules/url-template.ts'

/**
 * Compares a connector with a package of an earlier version of it.
 *
 * @throws PackageError if the package is of another connector, or if this runtime does not understand it
 */
export function breaksOf(next: Manifest, before: Package): PackageFinding[] {
  const { id, version } = before.digests
  if (id !== next.id)
    throw new PackageError(`the package is of ${id}, but the checked connector is ${next.id}`)
  const text = String(before.files.get('connector.json'))
  const checked = checkManifest(text, checkRules)
  if (!checked.ok)
    throw new PackageError(
      `the manifest of ${id} ${version} cannot be compared: ${checked.findings[0]}`,
    )
  return compatibility(checked.manifest, next)
}
