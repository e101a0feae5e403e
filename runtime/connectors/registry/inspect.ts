/**
 * Inspects one connector's folder: its manifest, its compilation, and whether the code implements what the
 * manifest declares.
 */
import type { Manifest } from '../../contract/connector/manifest.ts'
import { answerFields } from '../../contract/connector/payload.ts'
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import type { LoadedConnector } from '../../protocol/loaded.ts'
import { fileOf } from '../packages/file-of.ts'
import type { CheckEgress } from './check-egress.ts'
import { checkManifest } from './check-manifest.ts'
import type { Compiled } from './compiler.ts'
import type { Folder } from './folder.ts'
import { logoOf } from './logo.ts'
import { createLocate } from './positions.ts'

/** Dependencies of an inspection, passed in by main. */
export type Inspector = {
  checkEgress: CheckEgress
  compile(folder: Folder): Promise<Compiled>
  /**
   * Loads the code in a sandbox and returns the capabilities it implements. Throws RuntimeError if it cannot.
   */
  describe(connector: LoadedConnector, deadlineMs: number): Promise<string[]>
}

export type Inspection =
  | {
      ok: true
      manifest: Manifest
      code: string
      map: string | null
      /** The logo as a data: URL. */
      logo: string | null
    }
  | { ok: false; findings: string[]; id: string | null; version: string | null }

/** Failures to load that are caused by the code. */
const CODE_AT_FAULT: readonly RuntimeCode[] = ['load_failed', 'isolate_memory']

/**
 * Time for a worker to start and load the inspected code, in milliseconds. Longer than the code itself may
 * take.
 */
const DESCRIBE_DEADLINE_MS = 15_000

/** Inspects a folder. Never throws because of its content; throws if the inspection itself failed. */
export async function inspect(folder: Folder, inspector: Inspector): Promise<Inspection> {
  const text = fileOf(folder.files, 'connector.json').toString('utf8')
  const checked = checkManifest(text, inspector.checkEgress)
  if (!checked.ok) return checked
  const { manifest } = checked
  const logo = logoOf(manifest, folder)
  if (!logo.ok) return refusedFor(manifest, [logo.finding])
  const compiled = await inspector.compile(folder)
  if (!compiled.ok) return refusedFor(manifest, compiled.findings)
  return prove(manifest, { ...compiled, digest: folder.digest, logo: logo.url }, inspector)
}

/** A package whose files match its digests. */
type Unpacked = {
  digest: string
  digests: { id: string; version: string; runtime: string }
  files: ReadonlyMap<string, Buffer>
}

/** Inspects a package like `inspect` a folder. Its code was compiled when it was packed. */
export async function inspectPackage(
  { digest, digests, files }: Unpacked,
  inspector: Omit<Inspector, 'compile'>,
): Promise<Inspection> {
  const text = fileOf(files, 'connector.json').toString('utf8')
  const checked = checkManifest(text, inspector.checkEgress)
  if (!checked.ok) return checked
  const { manifest } = checked
  const members = ['id', 'version', 'runtime'] as const
  const other = members.filter((name) => manifest[name] !== digests[name])
  if (other.length > 0)
    return refusedFor(
      manifest,
      other.map(
        (name) =>
          `connector.json says ${name} ${JSON.stringify(manifest[name])}, digests.json ${JSON.stringify(digests[name])}; pack it again`,
      ),
    )
  const logo = logoOf(manifest, { files: new Map(files) })
  if (!logo.ok) return refusedFor(manifest, [logo.finding])
  const code = fileOf(files, 'code.js').toString('utf8')
  const map = files.get('code.js.map')?.toString('utf8') ?? null
  return prove(manifest, { digest, code, map, logo: logo.url }, inspector)
}

const refusedFor = ({ id, version }: Manifest, findings: string[]): Inspection => ({
  ok: false,
  findings,
  id,
  version,
})

/** Checks whether the code implements what the manifest declares. */
async function prove(
  manifest: Manifest,
  made: { digest: string; code: string; map: string | null; logo: string | null },
  inspector: Omit<Inspector, 'compile'>,
): Promise<Inspection> {
  const { digest, code, map, logo } = made
  const refused = (findings: string[]): Inspection => refusedFor(manifest, findings)
  const connector = loaded(manifest, digest, code)
  let implemented: string[]
  try {
    implemented = await inspector.describe(connector, DESCRIBE_DEADLINE_MS)
  } catch (error) {
    // A verdict is kept for good, so it may depend only on the code. If the machine is too busy to load it in
    // time, it is inspected again.
    if (!(error instanceof RuntimeError) || !CODE_AT_FAULT.includes(error.code)) throw error
    const place = await createLocate(async () => map)(digest, error.details.at ?? [])
    return refused([`${place ?? 'connector.ts'}: ${error.message}`])
  }
  const declared = Object.keys(manifest.capabilities)
  const missing = declared.filter((name) => !implemented.includes(name))
  const extra = implemented.filter((name) => !declared.includes(name))
  const findings = [
    ...missing.map(
      (name) =>
        `capabilities.${name}: declared, but connector.ts does not implement it; it implements ${list(implemented)}`,
    ),
    ...extra.map(
      (name) =>
        `connector.ts implements ${name}, but connector.json does not declare it; it declares ${list(declared)}`,
    ),
  ]
  return findings.length > 0 ? refused(findings) : { ok: true, manifest, code, map, logo }
}

/** Returns a connector version in the form that lanes load. */
export function loaded(manifest: Manifest, digest: string, code: string): LoadedConnector {
  const responseFields = Object.entries(manifest.capabilities)
    .map(([name, one]) => [name, answerFields(name, one)] as const)
    .filter(([, fields]) => Object.keys(fields).length > 0)
  return {
    id: manifest.id,
    digest,
    code,
    memoryMb: manifest.limits.memory_mb,
    responseFields: Object.fromEntries(responseFields),
  }
}

const list = (names: string[]): string =>
  names.length === 0 ? 'nothing' : [...names].sort().join(', ')
