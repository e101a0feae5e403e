/** Writes a package. The same input gives the same bytes. */
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { fileOf } from './file-of.ts'
import { DIGESTS, MAX_PACKED_BYTES, type Package, PackageError } from './format.ts'

/** Metadata of every entry. It must not reveal who packed it, when and where. */
const NOBODY = { type: 'file', mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) } as const

/**
 * Returns the package as a gzipped tar: `digests.json` first, then the files by name.
 *
 * @throws PackageError if it is too large to be installed
 */
export async function writePackage({ digestsText, files }: Package): Promise<Buffer> {
  const names = [...files.keys()].sort()
  const entries = [
    { name: DIGESTS, body: Buffer.from(digestsText) },
    ...names.map((name) => ({ name, body: fileOf(files, name) })),
  ]
  const tar = await packTar(
    entries.map(({ name, body }) => ({
      header: { ...NOBODY, name, size: body.length },
      body: new Uint8Array(body),
    })),
  )
  // Node writes no time into the header. The byte for the operating system is set here.
  const packed = gzipSync(tar, { level: 9 })
  packed[9] = 0xff
  if (packed.length > MAX_PACKED_BYTES)
    throw new PackageError(
      `the package has ${packed.length} bytes, at most ${MAX_PACKED_BYTES} are allowed; leave some out`,
    )
  return packed
}
