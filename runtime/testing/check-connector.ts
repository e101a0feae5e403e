/**
 * Checks everything about a connector's folder that can be checked without its real system: the manifest, the
 * compilation, the code against the manifest, the cases in the real sandbox, and conformance. For conformance
 * every capability, called with a network that refuses everything, must end in an answer or a wire code.
 */
import { compile } from '../connectors/registry/compile.ts'
import { type Folder, FolderError, readFolder } from '../connectors/registry/folder.ts'
import { type Inspection, inspect } from '../connectors/registry/inspect.ts'
import { createLocate } from '../connectors/registry/positions.ts'
import { createVersion, type Version } from '../connectors/registry/version.ts'
import { isCapability } from '../contract/capabilities/capabilities.ts'
import type { Case } from '../contract/connector/cases.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { codeOf } from '../contract/errors/thrown.ts'
import { checkRules } from '../egress/rules/url-template.ts'
import type { InvokeDeps } from '../invoke/ports.ts'
import { createLanes, type Lanes } from '../lanes/lanes.ts'
import { createLauncher, type Launcher } from '../lanes/launch.ts'
import { withWorker } from '../lanes/spare-worker.ts'
import { buildWorker } from '../lanes/worker-bundle.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { caseSpans } from './case-file.ts'
import type { CheckResult, Finding } from './check-result.ts'
import { conformance } from './conformance.ts'
import { CASES_FILE, readCasesInSlices } from './read-cases.ts'
import { judgeCase, type Stage } from './run-case.ts'
import { declarationWarnings } from './unused.ts'
import { doubtful } from './warnings.ts'

/** Folder that passed, with its files and the results of the build. */
export type Built = { folder: Folder; manifest: Manifest; code: string; map: string | null }

/** Folder that loads, so that its cases can run. They may fail. */
type Loaded = Pick<Folder, 'files'> & Stage

/**
 * Result of a check, with the results of the build. `built` is null if there is any finding that fails the
 * check.
 */
type Checked = { result: CheckResult; built: Built | null; loaded: Loaded | null }

/** Handler for `catch`: a timeout or a crash of the sandbox during loading is an ordinary finding. */
export const notLoaded =
  (file: string) =>
  (error: unknown): Inspection => {
    if (!(error instanceof RuntimeError)) throw error
    return { ok: false, findings: [`${file}: ${error.message}`], id: null, version: null }
  }

/** Sandbox in which one check or many run. */
export type CheckBench = {
  check(directory: string): Promise<CheckResult>
  /** Checks a folder. Also returns the results of the build if nothing is wrong. */
  build(directory: string): Promise<Checked>
  /** Sandbox, for other checks. */
  lanes: Lanes
  close(): Promise<void>
}

/** Starts the sandbox once, for checks of several folders. `make` compiles a folder. */
export async function openCheckBench(make: typeof compile = compile): Promise<CheckBench> {
  const folder = temporaryFolder('check')
  const work = folder.path
  const launcher = createLauncher(await buildWorker(work))
  const lanes = createLanes(launcher)
  return {
    check: async (directory) => (await check(directory, work, launcher, lanes, make)).result,
    build: (directory) => check(directory, work, launcher, lanes, make),
    lanes,
    async close() {
      lanes.stop()
      await folder.remove()
    },
  }
}

async function check(
  directory: string,
  work: string,
  launcher: Launcher,
  lanes: Lanes,
  make: typeof compile,
): Promise<Checked> {
  const failed = (
    messages: string[],
    id: string | null = null,
    version: string | null = null,
  ): Checked => ({
    result: {
      ok: false,
      id,
      version,
      findings: messages.map((message) => ({ severity: 'error', where: 'connector', message })),
      passed: [],
    },
    built: null,
    loaded: null,
  })
  let folder: Folder
  try {
    folder = await readFolder(directory)
  } catch (error) {
    if (error instanceof FolderError) return failed([error.message])
    if (codeOf(error) === 'ENOENT') return failed([`no such folder: ${directory}`])
    throw error
  }
  const verdict = await inspect(folder, {
    checkEgress: checkRules,
    compile: (one) =>
      withWorker(lanes, () =>
        make(one, { workDirectory: work, prefix: launcher.prefix, timeoutMs: 20_000 }),
      ),
    describe(connector, deadlineMs) {
      const described = lanes.describe(connector, deadlineMs)
      // In the meantime, start the worker that runs the cases.
      lanes.prepare()
      return described
    },
  }).catch(notLoaded('connector.ts'))
  if (!verdict.ok) return failed(verdict.findings, verdict.id, verdict.version)
  const { findings, passed } = await checkCode({ ...verdict, digest: folder.digest }, folder, lanes)
  const { manifest, code, map } = verdict
  const { id, version: number } = manifest
  const ok = findings.every(({ severity }) => severity !== 'error')
  return {
    result: { ok, id, version: number, findings, passed },
    built: ok ? { folder, manifest, code, map } : null,
    loaded: {
      files: folder.files,
      version: createVersion(manifest, folder.digest, 'stranger', async () => code),
      run: lanes.run,
    },
  }
}

/** Runs the cases and the conformance checks of a connector that loads. */
export async function checkCode(
  made: { manifest: Manifest; digest: string; code: string; map: string | null },
  files: Pick<Folder, 'files'>,
  lanes: Pick<Lanes, 'run' | 'drain'>,
): Promise<Pick<CheckResult, 'findings' | 'passed'>> {
  const version = createVersion(made.manifest, made.digest, 'stranger', async () => made.code)
  const locate = createLocate(async () => made.map)
  const findings: Finding[] = []
  const passed: string[] = []
  const cases = await checkCases(files, version, { run: lanes.run, locate }, findings, passed)
  findings.push(...(await conformance(version, lanes.run, cases, locate)))
  for (const message of declarationWarnings(made.manifest, made.code, cases))
    findings.push({ severity: 'warning', where: 'connector.json', message })
  lanes.drain(version.lane)
  return { findings, passed }
}

async function checkCases(
  folder: Pick<Folder, 'files'>,
  version: Version,
  { run, locate }: Pick<InvokeDeps, 'run' | 'locate'>,
  findings: Finding[],
  passed: string[],
): Promise<Case[]> {
  const { manifest } = version
  const text = folder.files.get(CASES_FILE)?.toString('utf8')
  const read = await readCasesInSlices(text)
  if ('unreadable' in read) {
    // Do not report missing cases: they are unknown.
    findings.push({ severity: 'error', where: CASES_FILE, message: read.unreadable })
    return []
  }
  const { cases, covered } = read
  const lines = new Map(caseSpans(text ?? '').map(({ name, line }) => [name, line]))
  const findingOf = (severity: Finding['severity'], where: string, message: string): Finding => {
    const line = lines.get(where)
    return { severity, where, ...(line === undefined ? {} : { line }), message }
  }
  const add = (where: string, message: string) => findings.push(findingOf('error', where, message))
  for (const { where, message } of read.findings) add(where, message)
  findings.push(...missingCases(manifest, covered))
  for (const one of cases) {
    if (!isCapability(one.capability) || !Object.hasOwn(manifest.capabilities, one.capability)) {
      add(one.name, `${one.capability} is not declared in connector.json`)
      continue
    }
    const { findings: wrong, bodies } = await judgeCase(one, { version, run, locate })
    for (const message of doubtful(manifest, one.capability, bodies))
      if (!findings.some((known) => known.message === message))
        findings.push(findingOf('warning', one.name, message))
    if (wrong.length === 0) passed.push(one.name)
    for (const message of wrong) add(one.name, message)
  }
  return cases
}

function missingCases({ capabilities }: Manifest, covered: Set<string>): Finding[] {
  const missing = Object.keys(capabilities)
    .filter((name) => !covered.has(name))
    .map(
      (name): Finding => ({
        severity: 'error',
        where: CASES_FILE,
        message: `no case calls ${name}; write one, or record a real call: keyway dev DIRECTORY --record`,
      }),
    )
  if (Object.hasOwn(capabilities, 'validate_credentials')) return missing
  return [
    ...missing,
    {
      severity: 'warning',
      where: 'connector.json',
      message:
        'validate_credentials is missing; callers use it to check credentials and to identify the tenant',
    },
  ]
}
