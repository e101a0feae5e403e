/** Verifying evidence: that it is sealed by a trusted key, and is consistent. */
import { createCheck, type EvidenceSummary } from './check.ts'
import { EvidenceError, type Pieces, readEvidence } from './read.ts'

/** Result of a verification. */
export type Verified = EvidenceSummary & { public_key: string; sha256: string }

/**
 * Verifies a file of evidence.
 *
 * @param trusted one or more keys of the installation, as 64 lower-case hexadecimal digits, or their
 * fingerprints; one must have signed
 * @param onPage called with each part of the readable page, before it is verified
 * @throws EvidenceError that describes the fault
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
  // The seal is valid, so the installation itself wrote the inconsistency.
  if (problems.length > 0)
    throw new EvidenceError(`it is sealed, but inconsistent: ${problems.join('; ')}`)
  return { ...summary, public_key, sha256 }
}
