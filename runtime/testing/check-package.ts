/**
 * Checks a package like `keyway check` checks a folder: its manifest, its code, its cases in the real
 * sandbox.
 */

import type { Package } from '../connectors/packages/format.ts'
import { leaksIn } from '../connectors/packages/leaks.ts'
import type { CheckEgress } from '../connectors/registry/check-egress.ts'
import { inspectPackage } from '../connectors/registry/inspect.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import type { PackageFinding } from '../contract/endpoints/operator.ts'
import { checkRules } from '../egress/rules/url-template.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { type CheckBench, checkCode, notLoaded } from './check-connector.ts'
import type { Finding } from './check-result.ts'

type PackageCheck = {
  findings: PackageFinding[]
  manifest: Manifest | null
  /** Names of the cases that passed. */
  passed: string[]
}

/** Advice for an error: an installed package cannot be changed. */
const ADVICE = 'fix the connector, increase its version and pack it again'

/** Returns all findings of a package. `manifest` is null if the package cannot be served. */
export async function checkPackage(
  one: Package,
  lanes: Pick<Lanes, 'run' | 'drain' | 'describe'>,
  checkEgress: CheckEgress,
): Promise<PackageCheck> {
  const verdict = await inspectPackage(one, {
    checkEgress,
    describe: (connector, deadlineMs) => lanes.describe(connector, deadlineMs),
  }).catch(notLoaded('code.js'))
  const leaks = (await leaksIn(one.files)).map((message) => wrong('package', message))
  if (!verdict.ok)
    return {
      findings: [...verdict.findings.map((message) => wrong('connector', message)), ...leaks],
      manifest: null,
      passed: [],
    }
  const { findings, passed } = await checkCode(
    { ...verdict, digest: one.digest },
    { files: new Map(one.files) },
    lanes,
  )
  return { findings: [...findings.map(advised), ...leaks], manifest: verdict.manifest, passed }
}

/** Checks a package in the sandbox of a check, without a host. */
export const checkPackageOn = ({ lanes }: CheckBench, one: Package): Promise<PackageCheck> =>
  checkPackage(one, lanes, checkRules)

const wrong = (where: string, message: string): PackageFinding => ({
  severity: 'error',
  where,
  message,
  advice: ADVICE,
})

const advised = ({ severity, where, message }: Finding): PackageFinding => ({
  severity,
  where,
  message,
  advice: severity === 'error' ? ADVICE : 'no action is required',
})
