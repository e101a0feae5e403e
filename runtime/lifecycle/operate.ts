/** What operators do with connectors: each change is judged, then made in one transaction. */

import type { PackageFinding, PackageReport } from '../contract/endpoints/operator.ts'
import { CoreError } from '../contract/endpoints/problem.ts'
import { RuntimeError } from '../contract/errors.ts'
import {
  type Grant,
  type InstalledConnector,
  type Statement,
  saidOf,
  type Want,
} from '../contract/generation.ts'
import type { Manifest } from '../contract/manifest.ts'
import type { Actor } from '../core/activity/activity.ts'
import { type Db, isAway } from '../database/database.ts'
import type { Package } from '../packages/format.ts'
import { compatibility } from '../registry/compatibility.ts'
import { uncovered, wantsOf } from '../registry/wants.ts'
import { inWords } from './difference.ts'
import { commit, newest, type Outcome, statementOf, type Wish } from './generations.ts'
import {
  forgetUnnamed,
  judgedAnew,
  keepPackage,
  keepSignature,
  trusted,
  type Uploaded,
} from './packages.ts'
import { forgetProbe, type Probe } from './probes.ts'
import {
  activated,
  connectorOf,
  granted,
  installed,
  removed,
  revoked,
  rolledBack,
  switched,
  versionOf,
} from './statement.ts'

/** Which packages may be installed: signed by a publisher whom the operator trusts, or any that is not invalid. */
export type InstallPolicy = 'trusted' | 'any'

export type OperateDeps = {
  db: Db
  actor: Actor
  /** E-mail address of the actor. */
  email: string
  policy: InstallPolicy
  /** What is wrong with a package, its cases included; null for the manifest of one that cannot serve. */
  check(one: Package): Promise<{ findings: PackageFinding[]; manifest: Manifest | null }>
  /** The manifest of a package that is kept. */
  manifestOf(digest: string): Promise<Manifest>
  /** Calls a version as it will serve; answers what went wrong, in words. */
  tryOut(digest: string, grants: readonly Want[], probe: Probe | null): Promise<string | null>
  probeOf(id: string): Promise<Probe | null>
}

export type Change = Omit<Wish, 'action'>

/**
 * Checks a package and keeps it.
 *
 * @throws RuntimeError input_invalid with the report, for one that may not be installed; CoreError 409
 */
export async function upload(
  deps: OperateDeps,
  uploaded: Uploaded,
  change: Change & { changePublisher: boolean },
): Promise<Outcome & { report: PackageReport }> {
  const { db, actor, policy } = deps
  const { package: one, signature } = uploaded
  const { digest } = one
  const { id, version } = one.digests
  const { statement } = await newest(db, actor.domainId)
  const { why, ...trust } = trusted(one, signature, statement.publishers)
  if (why !== null) throw refused(`the signature is invalid: ${why}`)
  if (policy === 'trusted' && trust.trust !== 'trusted')
    throw refused(
      trust.key === null
        ? 'it is not signed, and KEYWAY_INSTALL=trusted takes what a trusted publisher has signed: have it signed by keyway sign, and trust its publisher by keyway trust'
        : `it is signed by the key ${trust.key}, which nobody here trusts: if you know whose it is, run keyway trust`,
    )
  const { findings, manifest } = await deps.check(one)
  const before = saidOf(statement, id)
  const report = await reportOf(deps, before, { id, digest, version, ...trust }, findings, manifest)
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (!manifest || errors.length > 0)
    throw refused(`it does not pass its checks: ${briefly(errors)}`, report)
  // Content first: a generation never names what is not there. What is left over by a kill is harmless.
  if (!change.dryRun) await keepPackage(db, actor.domainId, uploaded)
  const installedAt = new Date().toISOString()
  const outcome = await commit(db, actor, { ...change, action: 'install' }, async (now, tx) => {
    const { publishers } = now
    const { why: _again, ...judged } = trusted(one, signature, publishers)
    const made = { digest, version, ...judged, installed_at: installedAt, served_until: null }
    const after = installed(now, id, made, change)
    // What is refused, or says nothing new, leaves the signature that the versions were judged by.
    if (after !== now && !change.dryRun) {
      await keepSignature(tx, actor.domainId, digest, signature)
      await forgetUnnamed(tx, actor.domainId)
    }
    return after
  })
  return { ...outcome, report }
}

/** The first few findings. */
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

async function reportOf(
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
    findings: [...findings, ...(manifest && active ? breaks(active, manifest) : [])],
    more: told(uncovered(wants, grants)),
    less: told(uncovered(grants.map(plain), wants)),
    replaces: serving?.version ?? null,
    active: before?.active === facts.digest && !before.disabled,
  }
}

const breaks = (before: Manifest, next: Manifest): PackageFinding[] => compatibility(before, next)

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
async function usable({ manifestOf }: OperateDeps, id: string, digest: string): Promise<Manifest> {
  return manifestOf(digest).catch((cause) => {
    if (isAway(cause)) throw cause
    const why = `${id} ${digest.slice(0, 12)} cannot be used: ${(cause as Error).message}`
    throw new RuntimeError('state_conflict', why, {}, cause)
  })
}

const told = (wants: Want[]) => ({ wants, words: inWords(wants) })

/** A grant as the want that it was given for. */
function plain({ granted_at: _at, granted_by: _by, reason: _why, ...want }: Grant): Want {
  return want
}

export type Activation = Change & {
  digest: string
  grant: 'all' | string[]
  allowBreaking: boolean
  allowDowngrade: boolean
}

/**
 * Tries a version, and lets calls go to it.
 *
 * @throws RuntimeError state_conflict with what is to be granted or allowed first; upstream_failed when the
 *   try fails; CoreError 404 and 409
 */
export async function activate(deps: OperateDeps, id: string, wish: Activation): Promise<Outcome> {
  const { db, actor } = deps
  const { statement } = await newest(db, actor.domainId)
  const digest = digestOf(connectorOf(statement, id), wish.digest)
  const manifest = await usable(deps, id, digest)
  await judge(deps, statement, id, { ...wish, digest }, manifest)
  if (!wish.dryRun) {
    const { grants } = await next(deps, statement, id, { ...wish, digest }, manifest)
    const failed = await deps.tryOut(digest, grants, await deps.probeOf(id))
    if (failed !== null)
      throw new RuntimeError(
        'state_conflict',
        `${manifest.id} ${manifest.version} was tried before calls go to it, and failed: ${failed}. What served goes on`,
      )
  }
  return commit(db, actor, { ...wish, action: 'activate' }, async (now) => {
    await judge(deps, now, id, { ...wish, digest }, manifest)
    return (await next(deps, now, id, { ...wish, digest }, manifest)).statement
  })
}

/** A digest, or the beginning of one that means one version alone; or its number. */
function digestOf(connector: InstalledConnector, asked: string): string {
  const found = connector.versions.filter(
    ({ digest, version }) =>
      version === asked || (/^[0-9a-f]{6,64}$/.test(asked) && digest.startsWith(asked)),
  )
  const [only] = found
  if (only && found.length === 1) return only.digest
  const known = connector.versions.map((one) => `${one.version} (${one.digest.slice(0, 12)})`)
  throw new CoreError(
    404,
    `${connector.id} has no installed version ${JSON.stringify(asked.slice(0, 64))}; there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`,
  )
}

/** Refuses what the operator has not agreed to. */
async function judge(
  deps: OperateDeps,
  statement: Statement,
  id: string,
  { digest, grant, allowBreaking, reason }: Activation,
  manifest: Manifest,
): Promise<void> {
  const connector = connectorOf(statement, id)
  const version = versionOf(connector, digest)
  if (version.trust === 'invalid')
    throw new CoreError(409, `${id} ${version.version} is signed by a key that is trusted no more`)
  const wants = wantsOf(manifest)
  const missing = uncovered(wants, [...connector.grants, ...chosen(deps, wants, grant, reason)])
  if (missing.length > 0)
    throw new RuntimeError(
      'state_conflict',
      `${connector.id} ${version.version} wants more than is granted: ${inWords(missing).join('; ')}. Grant it with this call, or first`,
      { raw: { wants: missing } },
    )
  if (allowBreaking || !connector.active || connector.active === digest) return
  const before = await readable(deps, connector.active)
  const breaking = (before ? breaks(before, manifest) : []).filter(
    ({ severity }) => severity === 'breaking',
  )
  if (breaking.length > 0)
    throw new RuntimeError(
      'state_conflict',
      `${connector.id} ${version.version} breaks what serves now: ${breaking.map(({ where, message }) => `${where} ${message}`).join('; ')}. If that is meant, activate it with allow_breaking`,
      { raw: { findings: breaking } },
    )
}

async function next(
  deps: OperateDeps,
  statement: Statement,
  id: string,
  { digest, grant, allowDowngrade, reason }: Activation,
  manifest: Manifest,
): Promise<{ statement: Statement; grants: readonly Grant[] }> {
  const connector = connectorOf(statement, id)
  const kept = await Promise.all(connector.versions.map((one) => readable(deps, one.digest)))
  const after = activated(statement, id, {
    digest,
    grants: chosen(deps, uncovered(wantsOf(manifest), connector.grants), grant, reason),
    // What one wants that cannot be read is not known: nothing is dropped then.
    wanted: kept.flatMap((one) => (one ? wantsOf(one) : connector.grants)),
    allowDowngrade,
    at: new Date().toISOString(),
  })
  return { statement: after, grants: connectorOf(after, id).grants }
}

/** The wants that a selection means, as grants. */
function chosen(
  { email }: OperateDeps,
  wants: readonly Want[],
  selection: 'all' | readonly string[],
  reason: string,
): Grant[] {
  const at = new Date().toISOString()
  return wants
    .filter((one) => isSelected(one, selection))
    .map((one) => ({ ...one, granted_at: at, granted_by: email, reason }))
}

/** `kind`, `kind subject`, or the words of one want. */
const isSelected = (want: Want, selection: 'all' | readonly string[]): boolean =>
  selection === 'all' ||
  selection.some((text) =>
    [want.kind, `${want.kind} ${want.subject}`, `${want.kind} ${want.words}`].includes(text),
  )

/** @throws CoreError 404 where no version wants that */
export async function grant(
  deps: OperateDeps,
  id: string,
  { wants: selection, ...change }: Change & { wants: 'all' | string[] },
): Promise<Outcome> {
  const { db, actor } = deps
  return commit(db, actor, { ...change, action: 'grant' }, async (now) => {
    const { versions, grants } = connectorOf(now, id)
    const kept = await Promise.all(versions.map((one) => readable(deps, one.digest)))
    const wants = kept.flatMap((one) => (one ? wantsOf(one) : []))
    checkSelection(id, wants, selection)
    return granted(now, id, chosen(deps, uncovered(wants, grants), selection, change.reason))
  })
}

/** @throws CoreError 404 where nothing of that is granted */
export async function revoke(
  { db, actor }: OperateDeps,
  id: string,
  { wants: selection, ...change }: Change & { wants: 'all' | string[] },
): Promise<Outcome> {
  return commit(db, actor, { ...change, action: 'revoke' }, (now) => {
    checkSelection(id, connectorOf(now, id).grants, selection)
    return revoked(now, id, (one) => isSelected(one, selection))
  })
}

/** A selection that means nothing is a slip of the pen. */
function checkSelection(
  id: string,
  wants: readonly Want[],
  selection: 'all' | readonly string[],
): void {
  if (selection === 'all') return
  for (const text of selection) {
    if (wants.some((one) => isSelected(one, [text]))) continue
    const known = [...new Set(wants.map(({ kind, subject }) => `${kind} ${subject}`))]
    throw new CoreError(
      404,
      `${id}: nothing there is called ${JSON.stringify(text.slice(0, 200))}; there are ${known.slice(0, 50).join(', ')}`,
    )
  }
}

export const switchOff = (
  { db, actor }: OperateDeps,
  id: string,
  { atOnce, ...change }: Change & { atOnce: boolean },
): Promise<Outcome> =>
  commit(db, actor, { ...change, action: 'disable' }, (now) =>
    switched(now, id, { disabled: true, atOnce }),
  )

export const switchOn = ({ db, actor }: OperateDeps, id: string, change: Change) =>
  commit(db, actor, { ...change, action: 'enable' }, (now) =>
    switched(now, id, { disabled: false, atOnce: false }),
  )

export const remove = ({ db, actor }: OperateDeps, id: string, change: Change) =>
  commit(db, actor, { ...change, action: 'remove' }, async (now, tx) => {
    const after = removed(now, id)
    // Whatever is installed under this id next is not to be tried with them.
    if (!change.dryRun) await forgetProbe(tx, actor.domainId, id)
    return after
  })

/**
 * Serves what an earlier generation served. What serves now and goes on does so with what it has: only what
 * comes back must have all that it wants.
 *
 * @throws CoreError 404 for a generation that never was; RuntimeError state_conflict for what it wants more
 */
export async function rollBack(
  deps: OperateDeps,
  { to, grant: selection, ...change }: Change & { to: number; grant: 'all' | string[] },
): Promise<Outcome> {
  const { db, actor } = deps
  const then = await statementOf(db, actor.domainId, to)
  if (!then) throw new CoreError(404, `There is no generation ${to}`)
  return commit(db, actor, { ...change, action: 'rollback' }, async (now, tx) => {
    const at = new Date().toISOString()
    let after = await judgedAnew(tx, actor.domainId, rolledBack(now, then, at))
    for (const [key, connector] of Object.entries(after.connectors)) {
      const { active } = connector
      if (active === null || active === saidOf(now, key)?.active) continue
      const manifest = await usable(deps, connector.id, active)
      const missing = uncovered(wantsOf(manifest), connector.grants)
      const given = chosen(deps, missing, selection, change.reason)
      const still = uncovered(missing, given)
      if (still.length > 0)
        throw new RuntimeError(
          'state_conflict',
          `${connector.id} ${manifest.version} wants what is not granted any more: ${inWords(still).join('; ')}. Roll back with a grant of it`,
          { raw: { wants: still } },
        )
      after = granted(after, connector.id, given)
    }
    return after
  })
}
