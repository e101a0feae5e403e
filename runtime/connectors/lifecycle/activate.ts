/**
 * Activates a version: routes calls to it once the operator has agreed to it and it has passed its smoke
 * test.
 */

import type { Manifest } from '../../contract/connector/manifest.ts'
import type { Grant, InstalledConnector, Statement } from '../../contract/endpoints/generation.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { compatibility } from '../registry/compatibility.ts'
import { uncovered, wantsOf } from '../registry/requested-grant.ts'
import { brokenInWords, misfit } from './dependents.ts'
import { activated, connectorOf, requireTrust } from './desired-state.ts'
import { describeWants } from './difference.ts'
import { type ChangeOutcome, commit, newest } from './generations.ts'
import { chosen } from './grants.ts'
import { type ChangeOptions, type OperateDeps, readable, usable } from './operating.ts'

type Activation = ChangeOptions & {
  digest: string
  grant: 'all' | string[]
  allowBreaking: boolean
  allowDowngrade: boolean
}

/**
 * Tests a version and routes calls to it.
 *
 * @throws RuntimeError state_conflict with what must be granted or allowed first; upstream_failed if the test
 * fails; CoreError 404 and 409
 */
export async function activate(
  deps: OperateDeps,
  id: string,
  wish: Activation,
): Promise<ChangeOutcome> {
  const { db, actor } = deps
  const { statement } = await newest(db, actor.domainId)
  const digest = digestOf(connectorOf(statement, id), wish.digest)
  const manifest = await usable(deps, id, digest)
  await judge(deps, statement, id, { ...wish, digest }, manifest)
  if (!wish.dryRun) {
    const { grants } = await next(deps, statement, id, { ...wish, digest }, manifest)
    const probe = await deps.probeOf(id)
    const unfit = probe && misfit(manifest, probe)
    if (unfit !== null) throw new RuntimeError('state_conflict', `${probeWords(id, unfit)} first`)
    const failed = await deps.tryOut(digest, grants, probe)
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

/** Resolves a version given by digest, by a unique prefix of it, or by number. */
function digestOf(connector: InstalledConnector, asked: string): string {
  const found = connector.versions.filter(
    ({ digest, version }) =>
      version === asked || (/^[0-9a-f]{6,64}$/.test(asked) && digest.startsWith(asked)),
  )
  const [only] = found
  if (only && found.length === 1) return only.digest
  const known = connector.versions.map((one) => `${one.version} (${one.digest.slice(0, 12)})`)
  throw new CoreError(
    'not_found',
    `${connector.id} has no installed version ${JSON.stringify(asked.slice(0, 64))}; there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`,
  )
}

/** Rejects a version that needs what the operator has not agreed to. */
async function judge(
  deps: OperateDeps,
  statement: Statement,
  id: string,
  { digest, grant, allowBreaking, reason }: Activation,
  manifest: Manifest,
): Promise<void> {
  const connector = connectorOf(statement, id)
  const version = requireTrust(connector, digest)
  const wants = wantsOf(manifest)
  const missing = uncovered(wants, [...connector.grants, ...chosen(deps, wants, grant, reason)])
  if (missing.length > 0)
    throw new RuntimeError(
      'state_conflict',
      `${connector.id} ${version.version} wants more than is granted: ${describeWants(missing).join('; ')}. Grant it with this call, or first`,
      { raw: { wants: missing } },
    )
  if (allowBreaking || !connector.active || connector.active === digest) return
  const before = await readable(deps, connector.active)
  const breaking = (before ? compatibility(before, manifest) : []).filter(
    ({ severity }) => severity === 'breaking',
  )
  if (breaking.length > 0) {
    const broken = await deps.brokenApps(id, manifest, breaking)
    const probe = await deps.probeOf(id)
    const unfit = probe && misfit(manifest, probe)
    const found = breaking.map(({ where, message }) => `${where} ${message}`).join('; ')
    throw new RuntimeError(
      'state_conflict',
      `${connector.id} ${version.version} breaks what serves now: ${found}${brokenInWords(broken)}${unfit === null ? '' : `. ${probeWords(id, unfit)}`}. If that is meant, activate it with allow_breaking`,
      { raw: { findings: breaking, apps: broken, probe: unfit } },
    )
  }
}

/** Returns the message about unusable test credentials, and what to do. */
const probeWords = (id: string, unfit: string): string =>
  `The probe that it is tried with does not fit (${unfit}): give it again with keyway probe ${id} --as FILE`

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
    // The wants of an unreadable package are unknown. No grant is dropped then.
    wanted: kept.flatMap((one) => (one ? wantsOf(one) : connector.grants)),
    allowDowngrade,
    at: new Date().toISOString(),
  })
  return { statement: after, grants: connectorOf(after, id).grants }
}
