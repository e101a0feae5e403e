/** Verifying evidence: what was sealed, by a key that is trusted, and that it says one thing throughout. */
import { createCheck, type EvidenceSummary } from './check.ts'
import { EvidenceError, type Pieces, readEvidence } from './read.ts'

export type Verified = EvidenceSummary & { public_key: string; sha256: string }

/**
 * @param trusted the fingerprint of the installation's key, or the key, as 64 hex digits in small letters; or several, one of
 *   which has signed
 * @param onPage is called with each part of the page that people read, before it is known to be good
 * @throws EvidenceError that says what is wrong with it
 */
export async function verifyEvidence(
  pieces: Pieces,
  trusted: string | readonly string[],
  onPage: (html: string) => void = () => {},
): Promise<Verified> {
  const check = createCheck()
  const { public_key, sha256 } = await readEvidence(pieces, trusted, (line) => {
    check.take(line)
    if (line['kind'] === 'page' && typeof line['content'] === 'string') onPage(line['content'])
  })
  const { problems, summary } = check.end()
  // The seal is good: the installation itself has written what does not fit.
  if (problems.length > 0)
    throw new EvidenceError(`it is sealed, but does not fit together: ${problems.join('; ')}`)
  return { ...summary, public_key, sha256 }
}
