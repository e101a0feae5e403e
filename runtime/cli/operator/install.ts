/** `keyway install` and `keyway upgrade`: a package onto the host, and calls to it. */
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Readable } from 'node:stream'
import { ConfigError } from '../../config.ts'
import type { Changed, PackageFinding, PackageReport } from '../../contract/endpoints/operator.ts'
import { visible } from '../../contract/visible.ts'
import { SIGNATURE_HEADER } from '../../packages/sign.ts'
import { callOperator, findOperator, RefusedError } from '../operator-client.ts'
import {
  ask,
  type ChangeFlags,
  changeOf,
  changeQuery,
  changeWords,
  connectorPath,
} from './change.ts'

/** Exit code of what waits for the operator's grant. */
export const EXIT_WANTS = 3

export type InstallFlags = ChangeFlags & {
  signature?: string
  grant?: string[]
  grantAll?: true
  activate: boolean
  allowBreaking?: true
  allowDowngrade?: true
  changePublisher?: true
}

type Uploaded = Changed & { package: PackageReport }

/** Uploads a package, shows what it wants, and lets calls go to it when that is granted. */
export async function install(file: string, flags: InstallFlags): Promise<void> {
  const uploaded = await upload(file, flags)
  const report = uploaded.package
  if (!flags.json) console.log(visible(reportWords(report)))
  if (!flags.activate || flags.dryRun) {
    done(flags, uploaded)
    return
  }
  const grant = await agreed(report, flags)
  if (grant === null) {
    if (flags.json) done(flags, uploaded)
    else
      console.error(
        `${report.id} ${report.version} is kept, and calls do not go to it: it wants what is not granted. Run this again with --grant-all, or with --grant for each`,
      )
    process.exitCode = EXIT_WANTS
    return
  }
  done(flags, { ...(await activate(report.id, report.digest, grant, flags)), package: report })
}

/** Lets calls go to a version that is kept already. */
export async function upgradeTo(id: string, version: string, flags: InstallFlags): Promise<void> {
  const grant = flags.grantAll ? 'all' : (flags.grant ?? [])
  try {
    done(flags, await activate(id, version, grant, flags))
  } catch (error) {
    if (!(error instanceof RefusedError) || !Array.isArray(error.raw['wants'])) throw error
    console.error(visible(error.message))
    process.exitCode = EXIT_WANTS
  }
}

function done(flags: InstallFlags, changed: Changed & { package?: PackageReport }): void {
  console.log(flags.json ? JSON.stringify(changed, null, 2) : visible(changeWords(changed)))
}

const activate = (
  id: string,
  digest: string,
  grant: 'all' | string[],
  flags: InstallFlags,
): Promise<Changed> =>
  ask<Changed>(flags, {
    method: 'POST',
    path: connectorPath(id, 'activate'),
    body: {
      ...changeOf(flags),
      digest,
      grant,
      allow_breaking: flags.allowBreaking ?? false,
      allow_downgrade: flags.allowDowngrade ?? false,
    },
  })

async function upload(file: string, flags: InstallFlags): Promise<Uploaded> {
  const packed = await bytesOf(file)
  const signature = await signatureOf(file, flags.signature)
  const query = changeQuery(flags)
  if (flags.changePublisher) query.set('change_publisher', 'true')
  return (await callOperator(await findOperator(process.env, flags.url), {
    method: 'POST',
    path: `/operator/packages?${query}`,
    contentType: 'application/gzip',
    headers: signature === null ? {} : { [SIGNATURE_HEADER]: signature.toString('base64') },
    body: () => Readable.from([packed]),
    length: packed.length,
    patienceMs: 300_000,
  })) as Uploaded
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConfigError(
      code === 'ENOENT'
        ? `there is no file ${file}; keyway pack makes one of a folder`
        : `${file} cannot be read: ${message}`,
    )
  }
}

/** The signature that was named, or the one that lies beside the package. */
async function signatureOf(file: string, named?: string): Promise<Buffer | null> {
  if (named !== undefined) return bytesOf(named)
  return readFile(`${file}.sig`).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

/** What is granted with the activation; null where the operator does not agree. */
async function agreed(
  { more }: PackageReport,
  { grant, grantAll, json }: InstallFlags,
): Promise<'all' | string[] | null> {
  if (grantAll) return 'all'
  if (grant !== undefined || more.wants.length === 0) return grant ?? []
  if (json || !process.stdin.isTTY || !process.stdout.isTTY) return null
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await terminal.question('Grant all of it? [y/N] ')
    return /^y(es)?$/i.test(answer.trim()) ? 'all' : null
  } finally {
    terminal.close()
  }
}

const TRUST_WORDS: Record<PackageReport['trust'], string> = {
  trusted: 'signed by a trusted publisher',
  untrusted: 'not signed by anybody you trust',
  invalid: 'its signature is invalid',
}

/** What a package is and wants, before anybody says yes. */
export function reportWords(report: PackageReport): string {
  const { id, version, digest, trust, publisher, replaces, findings, more, less } = report
  const from = publisher === null ? '' : ` (${publisher})`
  return [
    `${id} ${version}: ${TRUST_WORDS[trust]}${from}, digest ${digest.slice(0, 12)}${replaces === null ? '' : `, replaces ${replaces}`}`,
    ...findings.map(findingWords),
    ...listed('It wants, and is not granted, to', more.words),
    ...listed('It does not want any more to', less.words),
  ].join('\n')
}

const findingWords = ({ severity, where, message, advice }: PackageFinding): string =>
  `  ${severity}: ${where}: ${message}${severity === 'notice' || severity === 'breaking' ? ` (${advice})` : ''}`

const listed = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)]
