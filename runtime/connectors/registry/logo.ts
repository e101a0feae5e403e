/** A connector's logo, as `info` shows it: a data: URL, so that nobody has to serve the file. */
import path from 'node:path'
import type { Manifest } from '../../contract/connector/manifest.ts'
import type { Folder } from './folder.ts'

/** Largest logo, in bytes: it is a part of every answer of `info`. */
export const MAX_LOGO_BYTES = 64 * 1024

const TYPES: Record<string, string> = { '.svg': 'image/svg+xml', '.png': 'image/png' }

/** The logo's address, null where the manifest names none, or what is wrong with it. */
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
