/** Splits a file into lines before it is parsed. Checks that they are UTF-8 and not too long. */
import { isUtf8 } from 'node:buffer'
import { MAX_ROW_BYTES } from '../../../contract/models/people-file.ts'

const LF = 0x0a

/** Error for a file that cannot be read any further. */
export class UnreadableError extends Error {
  readonly line: number

  constructor(line: number, problem: string) {
    super(problem)
    this.name = 'UnreadableError'
    this.line = line
  }
}

/**
 * Yields whole lines, in blocks. In UTF-8 the byte 0x0A is never part of another character.
 *
 * @throws UnreadableError
 */
export async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  let line = 1
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk])
    const end = bytes.lastIndexOf(LF) + 1
    const block = bytes.subarray(0, end)
    rest = bytes.subarray(end)
    line = checked(block, line)
    if (rest.length > MAX_ROW_BYTES)
      throw new UnreadableError(line, `is longer than ${MAX_ROW_BYTES} bytes; is this a CSV file?`)
    if (block.length > 0) yield block
  }
  checked(rest, line)
  if (rest.length > 0) yield rest
}

/** Checks a block that starts at line `first`, and returns the line at which the next block starts. */
function checked(block: Buffer, first: number): number {
  const fine = isUtf8(block)
  let line = first
  let start = 0
  for (let end = block.indexOf(LF); end !== -1; end = block.indexOf(LF, start)) {
    if (!fine && !isUtf8(block.subarray(start, end))) throw notUtf8(line)
    line += 1
    start = end + 1
  }
  if (!fine) throw notUtf8(line)
  return line
}

const notUtf8 = (line: number) =>
  new UnreadableError(line, 'is not UTF-8; save the file as “CSV UTF-8” and import it again')
