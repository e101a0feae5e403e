/** Reads HTTP/1.1 answers on one connection, as far as a load generator needs them. */

const HEAD_END = '\r\n\r\n'
const SUCCESS = 'HTTP/1.1 200 '
const LENGTH = /\r\ncontent-length: *(\d+)\r\n/i
/** The start of an answer that is an error of the connector interface. */
const ERROR_START = '{"is_error"'

export type AnswerReader = {
  /**
   * Takes the next bytes of a connection; they may be overwritten afterwards. Returns whether the answer is a
   * success once it is complete, and null before.
   *
   * @throws Error if an answer has no content length; all servers compared here send one
   */
  read(bytes: Buffer): boolean | null
}

export function createAnswerReader(): AnswerReader {
  /** The received part of an incomplete head. */
  let partOfHead = Buffer.alloc(0)
  let isSuccess = false
  /** Missing bytes of the body; null before the head is complete. */
  let left: number | null = null
  let start = ''

  /** The part of `bytes` that is body; null while the head is incomplete. */
  function readHead(bytes: Buffer): Buffer | null {
    // A copy, because `bytes` may be overwritten. Most heads arrive in one piece.
    const all = partOfHead.length === 0 ? bytes : Buffer.concat([partOfHead, bytes])
    const end = all.indexOf(HEAD_END)
    if (end === -1) {
      partOfHead = Buffer.from(all)
      return null
    }
    const head = all.toString('latin1', 0, end + 2)
    const length = LENGTH.exec(head)?.[1]
    if (length === undefined) throw new Error(`An answer has no content-length: ${head}`)
    partOfHead = Buffer.alloc(0)
    isSuccess = head.startsWith(SUCCESS)
    left = Number(length)
    start = ''
    return all.subarray(end + HEAD_END.length)
  }

  return {
    read(bytes) {
      const body = left === null ? readHead(bytes) : bytes
      if (body === null || left === null) return null
      // The first bytes may arrive in pieces.
      if (start.length < ERROR_START.length)
        start += body.toString('latin1', 0, ERROR_START.length - start.length)
      left -= body.length
      if (left > 0) return null
      left = null
      return isSuccess && start !== ERROR_START
    },
  }
}
