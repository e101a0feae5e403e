/**
 * Format of a connector package: a gzipped tar of a few files with fixed names, including `digests.json`,
 * which lists every other file with its SHA-256. The digest of that file identifies the package: the same
 * content has the same digest, regardless of where and when it was packed.
 *
 * Source: runtime/docs/authors/manifest.md, runtime/docs/design/architecture.md section 4.
 */

import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { INPUTS } from '../../contract/limits/inputs.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import { fileOf } from './file-of.ts'

/** Format that this version writes, and the only one it reads. */
export const FORMAT = 1

export const DIGESTS = 'digests.json'

/** Files of a package and their maximum sizes in bytes. The logo named by the manifest is added. */
export const PARTS = {
  'connector.json': { maxBytes: INPUTS.manifest.maxBytes, required: true },
  'code.js': { maxBytes: INPUTS.package_file.maxBytes, required: true },
  'code.js.map': { maxBytes: INPUTS.package_file.maxBytes, required: false },
  'connector.cases.json': { maxBytes: INPUTS.cases.maxBytes, required: false },
  'README.md': { maxBytes: 1024 * 1024, required: false },
} as const satisfies Record<string, Part>
type Part = { maxBytes: number; required: boolean }

const LOGO: Part = { maxBytes: 64 * 1024, required: false }

/** Returns the rules for a file name in a package, or null if it is not allowed. */
export function partOf(name: string): Part | null {
  if (isKeyOf(PARTS, name)) return PARTS[name]
  return /^[a-zA-Z0-9_-]{1,60}\.(svg|png)$/.test(name) ? LOGO : null
}

/** Maximum size of a package, packed and unpacked, in bytes. */
export const MAX_PACKED_BYTES = 16 * 1024 * 1024
export const MAX_UNPACKED_BYTES = 32 * 1024 * 1024
export const MAX_DIGESTS_BYTES = 16 * 1024

const Digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** `digests.json`. */
export const Digests = v.strictObject({
  format: v.literal(FORMAT),
  id: v.pipe(v.string(), v.maxLength(63)),
  version: v.pipe(v.string(), v.maxLength(200)),
  /** Runtime range, so that the package can be rejected before anything else is read. */
  runtime: v.pipe(v.string(), v.maxLength(200)),
  files: v.record(
    v.pipe(
      v.string(),
      v.check((name) => partOf(name) !== null, 'is no file of a package'),
    ),
    Digest,
  ),
})
export type Digests = v.InferOutput<typeof Digests>

/** A package that was read or is to be written. */
export type Package = {
  /** SHA-256 of `digests.json`, in hex. It is what is signed, installed and routed to. */
  digest: string
  /** `digests.json`, byte for byte. */
  digestsText: string
  digests: Digests
  files: ReadonlyMap<string, Buffer>
}

/** A package is invalid. The message says why, and that nothing was changed. */
export class PackageError extends Error {
  override name = 'PackageError'
}

export const sha256 = (bytes: Buffer | string): string =>
  createHash('sha256').update(bytes).digest('hex')

/** Builds a package from its files. The same files give the same bytes of `digests.json`. */
export function packageOf(
  manifest: { id: string; version: string; runtime: string },
  files: ReadonlyMap<string, Buffer>,
): Package {
  const { id, version, runtime } = manifest
  const names = [...files.keys()].sort()
  const digests: Digests = {
    format: FORMAT,
    id,
    version,
    runtime,
    files: Object.fromEntries(names.map((name) => [name, sha256(fileOf(files, name))])),
  }
  const digestsText = `${JSON.stringify(digests, null, 2)}\n`
  return { digest: sha256(digestsText), digestsText, digests, files }
}
