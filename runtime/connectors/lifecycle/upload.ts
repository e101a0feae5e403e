/** Upload of a package: it is checked and stored. No calls are routed to it yet. */

import type { Manifest } from '../../contract/connector/manifest.ts'
import {
  entryOf,
  type Grant,
  type InstalledConnector,
  type InstalledVersion,
  type Publisher,
  type Want,
} from '../../contract/endpoints/generation.ts'
import type { PackageFinding, PackageReport } from '../../contract/endpoints/operator.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { compatibility } from '../registry/compatibility.ts'
import { hostSettingsOf } from '../registry/host-settings.ts'
import { uncovered, wantsOf } from '../registry/requested-grant.ts'
import { installed } from './desired-state.ts'
import { describeWants } from './difference.ts'
import { type ChangeOutcome, commit, newest } from './generations.ts'
import { type ChangeOptions, type InstallPolicy, type OperateDeps, readable } from './operating.ts'
import {
  forgetUnnamed,
  keepPackage,
  keepSignature,
  trusted,
  type UploadedPackage,
} from './packages.ts'

/**
 * Checks and stores a package.
 *
 * @throws RuntimeError input_invalid with the report if it may not be installed; CoreError `conflict`
 */
export async function upload(
  deps: OperateDeps,
  uploaded: UploadedPackage,
  change: ChangeOptions & { changePublisher: boolean },
): Promise<ChangeOutcome & { report: PackageReport }> {
  const { db, actor, policy } = deps
  const { package: one, signature } = uploaded
  const { digest } = one
  const { id, version } = one.digests
  const { statement } = await newest(db, actor.domainId)
  const trust = judged(uploaded, policy, statement.publishers)
  const { findings, manifest } = await deps.check(one)
  const before = entryOf(statement, id)
  const report = await reportOf(deps, before, { id, digest, version, ...trust }, findings, manifest)
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (!manifest || errors.length > 0)
    throw refused(`it does not pass its checks: ${briefly(errors)}`, report)
  // Content first: a generation never names a missing package. What a kill leaves behind is harmless.
  if (!change.dryRun) await keepPackage(db, actor.domainId, uploaded)
  const installedAt = new Date().toISOString()
  const outcome = await commit(db, actor, { ...change, action: 'install' }, async (now, tx) => {
    // Check again: the key may have been distrusted during the checks.
    const trust = judged(uploaded, policy, now.publishers)
    const made = { digest, version, ...trust, installed_at: installedAt, served_until: null }
    const after = installed(now, id, made, change)
    // If the change is refused or changes nothing, the signature that the versions were judged by stays.
    if (after !== now && !change.dryRun) {
      await keepSignature(tx, actor.domainId, digest, signature)
      await forgetUnnamed(tx, actor.domainId)
    }
    return after
  })
  return { ...outcome, report }
}

/** Judges a package by the publishers that are trusted now. @throws RuntimeError input_invalid if it may not be installed */
function judged(
  { package: one, signature }: UploadedPackage,
  policy: InstallPolicy,
  publishers: readonly Publisher[],
): Pick<InstalledVersion, 'trust' | 'publisher' | 'key'> {
  const { why, ...trust } = trusted(one, signature, publishers)
  if (why !== null) throw refused(`the signature is invalid: ${why}`)
  if (policy === 'trusted' && trust.trust !== 'trusted')
    throw refused(
      trust.key === null
        ? 'it is not signed, and KEYWAY_INSTALL=trusted takes what a trusted publisher has signed. Sign it first: keyway sign PACKAGE --key KEY, and keyway trust KEY.pub --name PUBLISHER once'
        : `it is signed by the key ${trust.key}, which nobody here trusts: if you know whose it is, run keyway trust`,
    )
  return trust
}

/** Returns the first few findings. */
function briefly(findings: readonly PackageFinding[]): string {
  const shown = findings.slice(0, 3).map(({ where, message }) => `${where}: ${message}`)
  const more = findings.length - shown.length
  return `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

const refused = (why: string, report: PackageReport | null = null): RuntimeError =>
  new RuntimeError(
    'input_invalid',
    `The package was not installed: ${why}`,
    report ? { raw: { package: report } } : {},
  )

/** Compares a version with the serving one, and lists its wants. */
export async function reportOf(
  deps: OperateDeps,
  before: InstalledConnector | null,
  facts: Pick<PackageReport, 'id' | 'digest' | 'version' | 'trust' | 'publisher' | 'key'>,
  findings: PackageFinding[],
  manifest: Manifest | null,
): Promise<PackageReport> {
  const grants = before?.grants ?? []
  const wants = manifest ? wantsOf(manifest) : []
  const active = before?.active ? await readable(deps, before.active) : null
  const serving = before?.versions.find((one) => one.digest === before.active)
  return {
    ...facts,
    findings: [...findings, ...(manifest && active ? compatibility(active, manifest) : [])],
    more: withWords(uncovered(wants, grants)),
    less: withWords(uncovered(grants.map(plain), wants)),
    host_settings: manifest ? hostSettingsOf(manifest) : [],
    replaces: serving?.version ?? null,
    active: before?.active === facts.digest && !before.disabled,
  }
}

const withWords = (wants: Want[]) => ({ wants, words: describeWants(wants) })

/** Returns the want that a grant was given for. */
function plain({ granted_at: _at, granted_by: _by, reason: _why, ...want }: Grant): Want {
  return want
}
