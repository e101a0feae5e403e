/** Verbs that select the version for calls, and grant what it wants. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { ConfigError } from '../../config/config.ts'
import { SIGNATURE_HEADER } from '../../connectors/packages/sign.ts'
import type { Fetched } from '../../connectors/published/open.ts'
import type { Want } from '../../contract/endpoints/generation.ts'
import type { Changed, PackageFinding, PackageReport } from '../../contract/endpoints/operator.ts'
import { codeOf, ifMissing } from '../../contract/errors/thrown.ts'
import { visible } from '../../observe/visible.ts'
import { fileFault } from '../terminal/file-fault.ts'
import { canAsk, isAgreed } from '../terminal/is-agreed.ts'
import { type ChangeFlags, EXIT, type ReadFlags } from '../terminal/options.ts'
import { ask, briefly, changeOf, changeQuery, changeWords, connectorPath, print } from './change.ts'
import { callOperator, findOperator, RefusedError } from './client.ts'
import { hostSettingLines } from './host-settings.ts'
import { fromRegistry } from './registry.ts'

/** Maximum time for the host to check a package, in milliseconds. */
const UPLOAD_MS = 300_000
/** Maximum number of wants that are listed one by one. */
const MAX_HINTS = 10

type InstallFlags = ChangeFlags & {
  signature?: string
  registry?: string[]
  grant?: string[]
  grantAll?: true
  activate: boolean
  allowBreaking?: true
  allowDowngrade?: true
  changePublisher?: true
}

type Granting = { grant?: Selection; grantAll?: true }
type Uploaded = Changed & { package: PackageReport }
type Selection = 'all' | string[]

/** Uploads a package, shows what it wants, and activates it once that is granted. */
export async function install(file: string, flags: InstallFlags): Promise<void> {
  const uploaded = await upload(file, flags)
  const report = uploaded.package
  const { id, version, digest, more } = report
  if (!flags.json) {
    console.log(visible(reportWords(report)))
    const settings = await hostSettingLines(report.host_settings, flags)
    if (settings.length > 0) console.log(visible(settings.join('\n')))
  }
  if (!flags.activate) return done(flags, uploaded)
  if (flags.dryRun) return rehearse(uploaded, flags)
  const grant = await agreed(more.words, selected(flags), flags)
  if (grant === null) {
    console.error(
      visible(
        `${id} ${version} is stored but not active: it wants what is not granted.\n${grantHint(more.wants)}`,
      ),
    )
    if (flags.json) done(flags, uploaded)
    process.exitCode = EXIT.waits
    return
  }
  // The generation that the upload itself created does not count as a change by others.
  const expect = flags.expect === undefined ? {} : { expect: uploaded.generation }
  const activated = await asked({ ...flags, grant }, (granted) =>
    activate(id, digest, granted, { ...flags, ...expect }),
  )
  const difference = [...uploaded.difference, ...activated.difference]
  done(flags, { ...activated, changed: difference.length > 0, difference, package: report })
}

/**
 * Shows what an install would do. A package that is not stored yet cannot be activated, not even in a dry
 * run.
 */
async function rehearse(uploaded: Uploaded, flags: InstallFlags): Promise<void> {
  const { id, digest, more, active } = uploaded.package
  const grant = selected(flags)
  const waits = more.wants.length > 0 && grant === null
  const isKept = uploaded.difference.length === 0
  if (isKept && !active && !waits) {
    const activated = await activate(id, digest, grant ?? [], flags)
    return done(flags, { ...activated, package: uploaded.package })
  }
  if (flags.json || !isKept || active) done(flags, uploaded)
  if (waits && !flags.json)
    console.log(
      visible(`It would not be activated before that is granted. ${grantHint(more.wants)}`),
    )
}

/** Activates a version that is already stored. */
export async function upgradeTo(id: string, version: string, flags: InstallFlags): Promise<void> {
  done(flags, await asked(flags, (grant) => activate(id, version, grant, flags)))
}

/** Serves the versions of an earlier generation. */
export async function rollback(to: number, flags: ChangeFlags & Granting): Promise<void> {
  const rolledBack = await asked(flags, (grant) =>
    ask<Changed>(flags, '/operator/rollback', { body: { ...changeOf(flags), to, grant } }),
  )
  done(flags, rolledBack)
}

/** Tries a change, and repeats it if something must be granted first and the operator agrees. */
async function asked(
  flags: ChangeFlags & Granting,
  act: (grant: Selection) => Promise<Changed>,
): Promise<Changed> {
  const selection = selected(flags)
  try {
    return await act(selection ?? [])
  } catch (error) {
    const wants = error instanceof RefusedError ? error.raw['wants'] : null
    if (!(error instanceof RefusedError) || !Array.isArray(wants) || flags.json) throw error
    console.error(visible(error.message))
    const grant = await agreed(wants, selection, flags)
    if (grant !== null && selection === null) return act(grant)
    throw new RefusedError(grantHint(wants), error.raw)
  }
}

/** Returns the options to copy for agreeing. */
function grantHint(wants: readonly Want[]): string {
  const each = new Set(wants.map(({ kind, subject }) => `--grant '${kind} ${subject}'`))
  const shown = [...each].slice(0, MAX_HINTS)
  const more = each.size > shown.length ? `, and ${each.size - shown.length} more` : ''
  return `Run this again with --grant-all, or with all or some of: ${shown.join(' ')}${more}`
}

/** Returns the grants on the command line, or null if there are none. */
const selected = ({ grant, grantAll }: Granting): Selection | null =>
  grantAll || grant === 'all' || grant?.includes('all') ? 'all' : (grant ?? null)

function done(flags: ReadFlags, changed: Changed & { package?: PackageReport }): void {
  print(flags, changed, (told) => changeWords(withoutRepeats(told)))
}

/** Grants given as a whole are already listed in the report above. */
function withoutRepeats(changed: Changed & { package?: PackageReport }): Changed {
  const { package: report, difference } = changed
  if (!report || report.more.words.length === 0) return changed
  const granted = new Set(report.more.words.map((words) => `${report.id}: may ${words}`))
  const rest = difference.filter((line) => !granted.has(line))
  if (difference.length - rest.length < granted.size) return changed
  return { ...changed, difference: [...rest, `${report.id}: is granted everything listed above`] }
}

async function activate(
  id: string,
  digest: string,
  grant: Selection,
  flags: InstallFlags,
): Promise<Changed> {
  const body = {
    ...changeOf(flags),
    digest,
    grant,
    allow_breaking: flags.allowBreaking ?? false,
    allow_downgrade: flags.allowDowngrade ?? false,
  }
  try {
    return await ask<Changed>(flags, connectorPath(id, 'activate'), { body })
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    // The host names members of the request body, which are options here.
    throw new RefusedError(asOptions(error.message), error.raw)
  }
}

/** Replaces the names of members of a body or a query by those of the options. */
const asOptions = (words: string): string =>
  words.replace(
    /\b(allow_breaking|allow_downgrade|change_publisher)\b/g,
    (name) => `--${name.replaceAll('_', '-')}`,
  )

async function upload(file: string, flags: InstallFlags): Promise<Uploaded> {
  const { packed, signature } = await packageOf(file, flags)
  const query = changeQuery(flags)
  if (flags.changePublisher) query.set('change_publisher', 'true')
  try {
    return await callOperator<Uploaded>(await findOperator(process.env, flags.url), {
      method: 'POST',
      path: `/operator/packages?${query}`,
      contentType: 'application/gzip',
      headers: signature === null ? {} : { [SIGNATURE_HEADER]: signature.toString('base64') },
      body: () => Readable.from([packed]),
      length: packed.length,
      patienceMs: UPLOAD_MS,
    })
  } catch (error) {
    const raw = error instanceof RefusedError ? error.raw : {}
    // The cast: the host has validated its response against the schema of the endpoint.
    const report = raw['package'] as PackageReport | undefined
    if (flags.json || !(error instanceof RefusedError)) throw error
    if (!report) throw new RefusedError(asOptions(error.message), raw)
    console.error(visible(reportWords(report)))
    throw new RefusedError(`${report.id} ${report.version} was not installed.`, raw)
  }
}

/**
 * Returns a package from a file, or from a registry by name: `acme` or `acme@^1`. A file of that name takes
 * precedence.
 */
async function packageOf(file: string, flags: InstallFlags): Promise<Fetched> {
  if (!existsSync(file)) {
    const fetched = await fromRegistry(file, flags)
    if (fetched !== null) return fetched
  }
  return { packed: await bytesOf(file), signature: await signatureOf(file, flags.signature) }
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EISDIR')
      throw new ConfigError(
        `${file} is a folder: first make a package of it with keyway pack ${file}`,
      )
    throw fileFault(
      file,
      error,
      'name a package made by keyway pack, or a connector of a registry, with --registry. To use a version that is already installed: keyway upgrade ID --to VERSION',
    )
  }
}

/** Returns the given signature, or the one next to the package. */
async function signatureOf(file: string, named?: string): Promise<Buffer | null> {
  if (named !== undefined) return bytesOf(named)
  return readFile(`${file}.sig`).catch(ifMissing(null))
}

/** Returns the grants. Null if the operator does not agree or cannot be asked. */
async function agreed(
  missing: readonly unknown[],
  selection: Selection | null,
  { json }: ReadFlags,
): Promise<Selection | null> {
  if (selection !== null || missing.length === 0) return selection ?? []
  if (json || !canAsk()) return null
  return (await isAgreed('Grant all of it? [y/N] ')) ? 'all' : null
}

const TRUST_WORDS: Record<PackageReport['trust'], string> = {
  trusted: 'signed by a trusted publisher',
  untrusted: 'not signed by anyone you trust',
  invalid: 'its signature is invalid',
}

/** Describes a package and what it wants, before the operator decides. */
function reportWords(report: PackageReport): string {
  const { id, version, digest, trust, publisher, replaces, findings, more, less } = report
  const from = publisher === null ? '' : ` (${publisher})`
  return [
    `${id} ${version}: ${TRUST_WORDS[trust]}${from}, digest ${digest.slice(0, 12)}${replaces === null ? '' : `, replaces ${replaces}`}`,
    ...findings.map(findingWords),
    ...listed('It wants, but is not granted, to', more.words),
    ...listed('It no longer wants to', less.words),
  ].join('\n')
}

const findingWords = ({ severity, where, message, advice }: PackageFinding): string =>
  `  ${severity}: ${where}: ${message}${severity === 'notice' || severity === 'breaking' ? ` (${advice})` : ''}`

const listed = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:`, ...briefly(lines).map((line) => `  ${line}`)]
