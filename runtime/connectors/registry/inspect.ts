/**
 * Judges one connector's folder: manifest, compilation, and whether the code does what the manifest
 * says. The manifest is the promise, code the proof.
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

/** What stands between a folder and its verdict; handed in by main. */
export type Inspector = {
  checkEgress: CheckEgress
  compile(folder: Folder): Promise<Compiled>
  /** Loads the code in a sandbox and says what it implements; throws RuntimeError when it cannot. */
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

/** Ends of loading that are the doing of the code. */
const CODE_AT_FAULT: readonly RuntimeCode[] = ['load_failed', 'isolate_memory']

/** How long a worker may take to start and to load a connector's code that is checked, in milliseconds: more than the code may. */
const DESCRIBE_DEADLINE_MS = 15_000

/** Judges a folder. Never throws for what the folder holds; throws when judging itself failed. */
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

/** A package whose files are what its digests say. */
type Unpacked = {
  digest: string
  digests: { id: string; version: string; runtime: string }
  files: ReadonlyMap<string, Buffer>
}

/** Judges a package as `inspect` judges a folder; its code was made where it was packed. */
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

/** Whether the code does what the manifest says. */
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
    // A verdict is kept for good, so only what the code did itself may be one: a machine too busy to
    // load it in time is asked again.
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

/** A connector version as a lane loads it. */
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
