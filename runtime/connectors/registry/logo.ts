/** A connector's logo as shown by `info`: a data URL, so that no server for the file is needed. */
import path from 'node:path'
import type { Manifest } from '../../contract/connector/manifest.ts'
import type { Folder } from './folder.ts'

/** Maximum size of a logo in bytes. It is part of every answer of `info`. */
export const MAX_LOGO_BYTES = 64 * 1024

const TYPES: Record<string, string> = { '.svg': 'image/svg+xml', '.png': 'image/png' }

/** Returns the logo's data URL, null if the manifest names none, or a description of the problem. */
export function logoOf(
  { logo }: Pick<Manifest, 'logo'>,
  { files }: Pick<Folder, 'files'>,
): { ok: true; url: string | null } | { ok: false; finding: string } {
  if (logo === undefined) return { ok: true, url: null }
  const content = files.get(logo)
  if (!content) return { ok: false, finding: `logo: there is no ${logo} in the folder` }
  if (content.length > MAX_LOGO_BYTES)
    return { ok: false, finding: `logo: larger than ${MAX_LOGO_BYTES / 1024} KiB` }
  const type = TYPES[path.extname(logo)]
  return { ok: true, url: `data:${type};base64,${content.toString('base64')}` }
}
