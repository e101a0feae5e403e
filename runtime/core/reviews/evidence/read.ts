/** Reading a file of evidence: its lines, their digests and numbers, and the seal. Needs only the file. */
import { createHash, verify } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../../../contract/schema/canonical-json.ts'
import { isRecord } from '../../../contract/schema/record.ts'
import { fingerprintOf, publicKeyOf } from '../../../secrets/signing-key.ts'
import {
  FORM,
  MAX_LINE_BYTES,
  SEAL_BEGINS,
  Seal,
  sealedBytes,
  sha256,
  TAIL,
  TAIL_FORM,
} from './form.ts'

/** Error for a file that is refused. Its message describes the fault. */
export class EvidenceError extends Error {}

/** Content of a file, in pieces. */
export type Pieces = AsyncIterable<Buffer> | Iterable<Buffer>

const END = 0x0a
const SEAL_HEAD = Buffer.from(SEAL_BEGINS)

/** Returns the lines of a file, with their line ends. @throws EvidenceError if one is too long */
async function* linesOf(pieces: Pieces): AsyncGenerator<Buffer> {
  let kept: Buffer[] = []
  let bytes = 0
  for await (const piece of pieces) {
    let from = 0
    for (let at = piece.indexOf(END); at !== -1; at = piece.indexOf(END, from)) {
      yield Buffer.concat([...kept, piece.subarray(from, at + 1)])
      kept = []
      bytes = 0
      from = at + 1
    }
    kept.push(piece.subarray(from))
    bytes += piece.length - from
    if (bytes > MAX_LINE_BYTES) throw new EvidenceError('a line is longer than evidence allows')
  }
  if (bytes > 0) yield Buffer.concat(kept)
}

/**
 * Reads a file to its end, and checks that each line is unchanged, in order, and sealed by a trusted key.
 *
 * @param trusted one or more keys, as 64 hexadecimal digits, or their fingerprints; one must have signed
 * @param take called with each line but the seal
 * @throws EvidenceError that describes the manipulation
 */
export async function readEvidence(
  pieces: Pieces,
  trusted: string | readonly string[],
  take: (record: Record<string, unknown>) => void,
): Promise<Seal> {
  const whole = createHash('sha256')
  let n = 0
  let seal: string | null = null
  const lines = linesOf(pieces)
  for await (const line of lines) {
    if (seal !== null) throw new EvidenceError('it has data after its seal')
    if (line.at(-1) !== END)
      throw new EvidenceError(`it is cut: it ends in the middle of line ${n + 1}`)
    if (line.subarray(0, SEAL_HEAD.length).equals(SEAL_HEAD)) {
      seal = line.toString('utf8').slice(0, -1)
      continue
    }
    n += 1
    const record = recordOf(line.subarray(0, -1), n)
    if (record['n'] !== n) throw await misplaced(n, record['n'], lines)
    whole.update(line)
    take(record)
  }
  if (seal === null) throw new EvidenceError(`it is cut: it ends after line ${n}, without its seal`)
  return judgeSeal(seal, n, whole.digest('hex'), trusted)
}

/** Parses a line and checks its digest. @throws EvidenceError if it was changed */
function recordOf(line: Buffer, n: number): Record<string, unknown> {
  const tail = TAIL_FORM.exec(line.subarray(-TAIL).toString('latin1'))
  const text = Buffer.concat([line.subarray(0, -TAIL), Buffer.from('}')])
  if (!tail || sha256(text) !== tail[1]) throw changed(n)
  let record: unknown
  try {
    record = JSON.parse(text.toString('utf8'))
  } catch {
    throw changed(n)
  }
  if (!isRecord(record)) throw changed(n)
  if (n === 1 && record['form'] !== FORM) throw new EvidenceError(NO_EVIDENCE)
  return record
}

const NO_EVIDENCE = `it is not evidence of the form ${FORM}`

const changed = (n: number): EvidenceError =>
  new EvidenceError(n === 1 ? `line 1 was changed, or ${NO_EVIDENCE}` : `line ${n} was changed`)

/** Returns the error for a wrong line number. Searches the rest to tell a moved line from a missing one. */
async function misplaced(
  wanted: number,
  found: unknown,
  rest: AsyncGenerator<Buffer>,
): Promise<EvidenceError> {
  for await (const line of rest) {
    const [, number] = /,"n":([0-9]+),/.exec(line.toString('latin1')) ?? []
    if (Number(number) === wanted)
      return new EvidenceError(
        `its lines are out of order: line ${found} is where line ${wanted} belongs`,
      )
  }
  return new EvidenceError(`line ${wanted} is missing: line ${found} is in its place`)
}

function judgeSeal(
  text: string,
  lines: number,
  whole: string,
  trusted: string | readonly string[],
): Seal {
  const seal = sealOf(text)
  if (seal.lines > lines)
    throw new EvidenceError(`it is cut: it has ${lines} lines, and its seal says ${seal.lines}`)
  if (seal.lines < lines)
    throw new EvidenceError(
      `its seal belongs to another file: it has ${lines} lines, and its seal says ${seal.lines}`,
    )
  const fingerprint = fingerprintOf(seal.public_key)
  const known = [trusted].flat()
  if (!known.includes(fingerprint) && !known.includes(seal.public_key))
    throw new EvidenceError(
      `it is signed by another key: its fingerprint is ${fingerprint}, not ${known.join(' or ')}`,
    )
  if (seal.sha256 !== whole)
    throw new EvidenceError(
      'its seal belongs to another text: lines were changed together with their digests',
    )
  const signature = Buffer.from(seal.signature, 'hex')
  if (!verify(null, sealedBytes(seal), publicKeyOf(seal.public_key), signature))
    throw new EvidenceError('its signature was not made by this key: the seal was changed')
  return seal
}

function sealOf(text: string): Seal {
  try {
    const seal = v.parse(Seal, JSON.parse(text))
    if (canonicalJson(seal) === text) return seal
  } catch {
    // The error is thrown below.
  }
  throw new EvidenceError('its seal was changed')
}
