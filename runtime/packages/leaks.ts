/** Secrets that were left in a package: what everybody who installs it could read. */

/** Forms of secrets that cannot be anything else. */
const FORMS: readonly [RegExp, what: string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key'],
  [/\bAKIA[0-9A-Z]{16}\b/, 'an AWS access key'],
  [/\bgh[pousr]_[A-Za-z0-9]{36}\b/, 'a GitHub token'],
  [/\bxox[abprs]-[A-Za-z0-9-]{20,}/, 'a Slack token'],
  [/\blsk_[A-Za-z0-9_-]{32,}/, 'a Keyway API token'],
  [/"private_key"\s*:\s*"-----/, 'a key of a service account'],
]

/** What looks like a secret in the files of a package, in words; cases may hold invented ones. */
export function leaksIn(files: ReadonlyMap<string, Buffer>): string[] {
  return [...files].flatMap(([name, content]) => {
    if (name === 'connector.cases.json') return []
    const text = content.toString('utf8')
    return FORMS.filter(([form]) => form.test(text)).map(
      ([, what]) => `${name} holds what looks like ${what}; remove it, and revoke it if it is one`,
    )
  })
}
