/**
 * How a file of evidence is written: JSON Lines, each with its number and digest, and a signed seal at the end. The page
 * runtime/docs/reference/evidence.md says it for those who write a verifier; it and this file change together. Pure.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../../../contract/schema/canonical-json.ts'
import type { Signer } from '../../../secrets/signing-key.ts'

export const FORM = 'keyway-evidence-1'

/** KINDS: the kinds of lines, in the order in which they stand. */
export const EVIDENCE_KINDS = [
  ...['review', 'offboarding', 'access'],
  ...['person', 'group', 'app', 'reviewers', 'notification', 'act', 'chain', 'item', 'step'],
  ...['held', 'upload', 'log', 'page'],
] as const
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number]

/** What a file is about: the kind of its first line, and of no other. */
export const SUBJECTS = ['review', 'offboarding', 'access'] as const
export type EvidenceSubject = (typeof SUBJECTS)[number]

/** Longest line that is read, in bytes. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024

/** Characters of `,"sha256":"<64 digits>"}`, by which each line but the seal ends. */
export const TAIL = 77
export const TAIL_FORM = /^,"sha256":"([0-9a-f]{64})"\}$/

const digits = (count: number) => v.pipe(v.string(), v.regex(new RegExp(`^[0-9a-f]{${count}}$`)))

/** The last line. */
export const Seal = v.strictObject({
  form: v.literal(FORM),
  kind: v.literal('seal'),
  lines: v.pipe(v.number(), v.integer(), v.minValue(1)),
  public_key: digits(64),
  sha256: digits(64),
  signature: digits(128),
})
export type Seal = v.InferOutput<typeof Seal>

/** How a seal begins, and no other line. */
export const SEAL_BEGINS = `{"form":"${FORM}","kind":"seal",`

export const sha256 = (text: string | Buffer): string =>
  createHash('sha256').update(text).digest('hex')

/** What is signed. */
export const sealedBytes = ({
  lines,
  sha256: whole,
  public_key,
}: Omit<Seal, 'signature'>): Buffer => Buffer.from(`${FORM}\n${lines}\n${whole}\n${public_key}\n`)

/** A line, with its end. */
function lineOf(n: number, kind: EvidenceKind, content: Readonly<Record<string, unknown>>): string {
  const text = canonicalJson({ ...content, kind, n })
  return `${text.slice(0, -1)},"sha256":"${sha256(text)}"}\n`
}

type EvidenceWriter = {
  add(kind: EvidenceKind, content: Readonly<Record<string, unknown>>): Promise<void>
  /** Ends the file. */
  seal(): Promise<void>
}

/** Bytes that are gathered before they are handed on. */
const CHUNK = 64 * 1024

/** Writes a file in pieces; each waits until the one before it was taken. */
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
