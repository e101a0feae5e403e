/** Converts a package to its entry in an index. */
import * as v from 'valibot'
import { Manifest } from '../../contract/connector/manifest.ts'
import { fileOf } from '../packages/file-of.ts'
import { type Package, PackageError, sha256 } from '../packages/format.ts'
import { wantsOf } from '../registry/requested-grant.ts'
import type { Addition } from './rules.ts'

/** Returns the entry and the logo file to publish with it. */
export function additionOf(
  { digests, digest, files }: Package,
  { bytes, signed }: { bytes: number; signed: boolean },
): { addition: Addition; logo: Buffer | null } {
  const manifest = manifestOf(fileOf(files, 'connector.json').toString('utf8'), digests.id)
  const logo = manifest.logo === undefined ? null : (files.get(manifest.logo) ?? null)
  const kind = manifest.logo?.endsWith('.png') ? ('png' as const) : ('svg' as const)
  return {
    logo,
    addition: {
      id: digests.id,
      name: manifest.name ?? digests.id,
      description: manifest.description ?? '',
      logo: logo === null ? null : { kind, sha256: sha256(logo) },
      version: {
        ...{ version: digests.version, digest, bytes, runtime: digests.runtime, signed },
        wants: wantsOf(manifest).map(({ kind: what, subject, words }) => ({
          ...{ kind: what, subject, words },
        })),
      },
    },
  }
}

function manifestOf(text: string, id: string): Manifest {
  try {
    return v.parse(Manifest, JSON.parse(text))
  } catch (cause) {
    throw new PackageError(`${id}: its connector.json cannot be read; pack it again`, { cause })
  }
}
