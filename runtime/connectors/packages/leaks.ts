/** Detects secrets left in a package, which everyone who installs it could read. */

import { inSlices } from '../../bounded/slices.ts'

/** Patterns that match only secrets. */
const FORMS: readonly [RegExp, what: string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key'],
  [/\bAKIA[0-9A-Z]{16}\b/, 'an AWS access key'],
  [/\bgh[pousr]_[A-Za-z0-9]{36}\b/, 'a GitHub token'],
  [/\bxox[abprs]-[A-Za-z0-9-]{20,}/, 'a Slack token'],
  [/\blsk_[A-Za-z0-9_-]{32,}/, 'a Keyway API token'],
  [/\blss_[A-Za-z0-9_-]{32,}/, 'a Keyway SCIM token'],
  [/"private_key"\s*:\s*"-----/, 'a key of a service account'],
]

/** Size of a scanned piece, and its overlap with the next, in characters. */
const PIECE = 64 * 1024
const OVERLAP = 1024

/** Describes likely secrets in the files of a package. Cases are exempt, since they contain invented ones. */
export function leaksIn(files: ReadonlyMap<string, Buffer>): Promise<string[]> {
  return inSlices(look(files))
}

function* look(files: ReadonlyMap<string, Buffer>): Generator<void, string[]> {
  const leaks: string[] = []
  for (const [name, content] of files) {
    if (name === 'connector.cases.json') continue
    const text = content.toString('utf8')
    const found = new Set<string>()
    for (let at = 0; at < text.length; at += PIECE) {
      yield
      const piece = text.slice(at, at + PIECE + OVERLAP)
      for (const [form, what] of FORMS) if (!found.has(what) && form.test(piece)) found.add(what)
    }
    for (const what of found)
      leaks.push(`${name} holds what looks like ${what}; remove it, and revoke it if it is one`)
  }
  return leaks
}
