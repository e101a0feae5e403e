/**
 * Format of a file of evidence: JSON Lines, each with its number and digest, and a signed seal at the end.
 * The page runtime/docs/reference/evidence.md describes it for authors of verifiers; change both together.
 * Pure.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../../../contract/schema/canonical-json.ts'
import type { Signer } from '../../../secrets/signing-key.ts'

/** Name of the format. */
export const FORM = 'keyway-evidence-1'

/** Kinds of lines, in the order of the file. */
export const EVIDENCE_KINDS = [
  ...['review', 'offboarding', 'access'],
  ...['person', 'group', 'app', 'reviewers', 'notification', 'act', 'chain', 'item', 'step'],
  ...['held', 'upload', 'log', 'page'],
] as const
/** Kind of a line. */
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number]

/** Subjects of a file. The subject is the kind of the first line, and of no other. */
export const SUBJECTS = ['review', 'offboarding', 'access'] as const
/** Subject of a file. */
export type EvidenceSubject = (typeof SUBJECTS)[number]

/** Maximum length of a line that is read, in bytes. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024

/** Length of `,"sha256":"<64 digits>"}` in characters, with which each line but the seal ends. */
export const TAIL = 77
/** Form of the end of a line. */
export const TAIL_FORM = /^,"sha256":"([0-9a-f]{64})"\}$/

const digits = (count: number) => v.pipe(v.string(), v.regex(new RegExp(`^[0-9a-f]{${count}}$`)))

/** Last line of a file. */
export const Seal = v.strictObject({
  form: v.literal(FORM),
  kind: v.literal('seal'),
  lines: v.pipe(v.number(), v.integer(), v.minValue(1)),
  public_key: digits(64),
  sha256: digits(64),
  signature: digits(128),
})
export type Seal = v.InferOutput<typeof Seal>

/** Start of a seal, and of no other line. */
export const SEAL_BEGINS = `{"form":"${FORM}","kind":"seal",`

/** Returns the SHA-256 digest of a text in hexadecimal digits. */
export const sha256 = (text: string | Buffer): string =>
  createHash('sha256').update(text).digest('hex')

/** Returns the bytes that are signed. */
export const sealedBytes = ({
  lines,
  sha256: whole,
  public_key,
}: Omit<Seal, 'signature'>): Buffer => Buffer.from(`${FORM}\n${lines}\n${whole}\n${public_key}\n`)

/** Returns a line with its line end. */
function lineOf(n: number, kind: EvidenceKind, content: Readonly<Record<string, unknown>>): string {
  const text = canonicalJson({ ...content, kind, n })
  return `${text.slice(0, -1)},"sha256":"${sha256(text)}"}\n`
}

type EvidenceWriter = {
  add(kind: EvidenceKind, content: Readonly<Record<string, unknown>>): Promise<void>
  /** Writes the seal and ends the file. */
  seal(): Promise<void>
}

/** Number of bytes collected before they are passed on. */
const CHUNK = 64 * 1024

/** Creates a writer that writes a file in chunks. Each waits until the previous one was taken. */
export function writeEvidence(
  { key, sign }: Signer,
  put: (bytes: Buffer) => Promise<void>,
): EvidenceWriter {
  const whole = createHash('sha256')
  let lines = 0
  let gathered: Buffer[] = []
  let bytes = 0

  async function handOn(): Promise<void> {
    const chunk = Buffer.concat(gathered)
    gathered = []
    bytes = 0
    await put(chunk)
  }

  return {
    async add(kind, content) {
      lines += 1
      const line = Buffer.from(lineOf(lines, kind, content))
      whole.update(line)
      gathered.push(line)
      bytes += line.length
      if (bytes >= CHUNK) await handOn()
    },
    async seal() {
      const seal = {
        ...({ form: FORM, kind: 'seal' } as const),
        ...{ lines, sha256: whole.digest('hex'), public_key: key.publicKey },
      }
      const signature = sign(sealedBytes(seal)).toString('hex')
      gathered.push(Buffer.from(`${canonicalJson({ ...seal, signature })}\n`))
      await handOn()
    },
  }
}
