/** `keyway check`: reports everything that is wrong with connector folders or packages. */

import { readFile, stat } from 'node:fs/promises'
import { ConfigError } from '../config/config.ts'
import { type Package, PackageError, packageOf } from '../connectors/packages/format.ts'
import { leaksIn } from '../connectors/packages/leaks.ts'
import { readPackage } from '../connectors/packages/read.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import type { PackageFinding } from '../contract/endpoints/operator.ts'
import { codeOf, messageOf } from '../contract/errors/thrown.ts'
import { visible } from '../observe/visible.ts'
import { exitOnSignal } from '../temporary-folder.ts'
import { type Built, type CheckBench, openCheckBench } from '../testing/check-connector.ts'
import { checkPackageOn } from '../testing/check-package.ts'
import type { CheckResult } from '../testing/check-result.ts'
import { breaksOf } from '../testing/compare.ts'
import { CASES_FILE } from '../testing/read-cases.ts'
import { counted } from './terminal/counted.ts'
import { terminalJson } from './terminal/json.ts'
import { refreshTypes } from './types-file.ts'
import { update } from './update.ts'

export type CheckFlags = { json?: true; against?: string; allowBreaking?: true }

type UpdateFlags = CheckFlags & { update?: true; yes?: true }

/** Result of checking a folder or a package. Only some findings have advice. */
type Checked = Omit<CheckResult, 'findings'> & {
  path: string
  findings: (Omit<PackageFinding, 'advice'> & { advice?: string; line?: number })[]
  /** Package that can be written, or null if something is wrong. */
  made: Package | null
}

export async function check(paths: string[], flags: UpdateFlags): Promise<void> {
  exitOnSignal()
  const bench = await openCheckBench()
  const results: Omit<Checked, 'made'>[] = []
  try {
    for (const path of paths) {
      const { made: _whole, ...first } = await checked(bench, path, flags)
      if (!flags.json) printCheck(first)
      const isOther = flags.update && !first.ok && (await update(bench, path, flags))
      const { made: _now, ...result } = isOther
        ? await checked(bench, path, flags)
        : { ...first, made: null }
      results.push(result)
      if (isOther && !flags.json) printCheck(result)
    }
  } finally {
    await bench.close()
  }
  if (flags.json) console.log(terminalJson(results))
  if (results.some(({ ok }) => !ok)) process.exitCode = 1
}

/**
 * Checks one folder or package, and compares it with the previous version if one is given.
 *
 * @throws ConfigError for a package that cannot be read or compared
 */
export async function checked(
  bench: CheckBench,
  path: string,
  { against, allowBreaking }: CheckFlags,
): Promise<Checked> {
  const before = against === undefined ? null : await packageAt(against)
  const found = (await isFile(path)) ? await ofPackage(bench, path) : await ofFolder(bench, path)
  const { manifest, made, ...rest } = found
  const breaks =
    before && manifest ? await told(against ?? '', () => breaksOf(manifest, before)) : []
  const findings = [...found.findings, ...breaks]
  const fails = (severity: string) =>
    severity === 'error' || (severity === 'breaking' && !allowBreaking)
  const ok = manifest !== null && !findings.some(({ severity }) => fails(severity))
  return { ...rest, path, ok, findings, made: ok ? made : null }
}

type Found = Omit<Checked, 'path' | 'ok'> & { manifest: Manifest | null }

async function ofPackage(bench: CheckBench, path: string): Promise<Found> {
  const made = await packageAt(path)
  const { id, version } = made.digests
  return { id, version, made, ...(await checkPackageOn(bench, made)) }
}

async function ofFolder(bench: CheckBench, path: string): Promise<Found> {
  await typesOf(path)
  const { result, built } = await bench.build(path)
  const { id, version, passed, findings } = result
  if (!built) return { id, version, passed, findings, manifest: null, made: null }
  const made = packageOf(built.manifest, filesOf(built))
  const leaks = (await leaksIn(made.files)).map((message) => ({
    severity: 'error' as const,
    where: 'package',
    message,
  }))
  return { id, version, passed, findings: [...findings, ...leaks], manifest: built.manifest, made }
}

/** A folder that is not writable can still be checked. */
async function typesOf(path: string): Promise<void> {
  await refreshTypes(path).catch((error: Error) => {
    console.error(visible(`connector.types.ts is not up to date: ${error.message}`))
  })
}

/** Returns the files of a package: the original manifest, and the compiled sources. */
function filesOf({ folder, manifest, code, map }: Built): Map<string, Buffer> {
  const files = new Map<string, Buffer>([['code.js', Buffer.from(code)]])
  if (map !== null) files.set('code.js.map', Buffer.from(map))
  const taken = ['connector.json', 'connector.cases.json', 'README.md', manifest.logo ?? '']
  for (const name of taken) {
    const content = folder.files.get(name)
    if (content) files.set(name, content)
  }
  return files
}

const packageAt = (path: string): Promise<Package> =>
  told(path, async () => readPackage(await readFile(path)))

/** Adds the path of the package to an error. */
async function told<T>(path: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const code = codeOf(error)
    const message = messageOf(error)
    if (code === 'ENOENT') throw new ConfigError(`there is no file ${path}`)
    if (error instanceof PackageError) throw new ConfigError(`${path}: ${message}`)
    throw error
  }
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    // Missing or not accessible: reported when it is read as a folder.
    () => false,
  )

/** Prints the findings of one folder or package for people. */
export function printCheck({
  path,
  ok,
  id,
  version,
  findings,
  passed,
}: Omit<Checked, 'made'>): void {
  const name = id === null ? path : `${id} ${version ?? ''}`.trim()
  const lines = [
    `${ok ? 'ok  ' : 'FAIL'} ${name}: ${counted(passed.length, 'case')} passed, ${counted(findings.length, 'finding')}`,
  ]
  for (const [index, { severity, where, line, message, advice }] of findings.entries()) {
    const before = findings[index - 1]
    if (before?.where !== where || before.severity !== severity)
      lines.push(`  ${severity} in ${where}${placeOf(line)}:`)
    lines.push(`    ${message.replaceAll('\n', '\n    ')}`)
    if (severity === 'breaking' || severity === 'notice') lines.push(`      → ${advice}`)
  }
  console.log(visible(lines.join('\n')))
}

/** Returns the position of a case. */
const placeOf = (line: number | undefined): string =>
  line === undefined ? '' : ` (${CASES_FILE}:${line})`
