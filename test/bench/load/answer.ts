/** Reads the answers of HTTP/1.1 on one connection, as far as a load generator must know them. */

const HEAD_END = '\r\n\r\n'
const SUCCESS = 'HTTP/1.1 200 '
const LENGTH = /\r\ncontent-length: *(\d+)\r\n/i
/** How an answer begins that is an error of the connector interface. */
const ERROR_START = '{"is_error"'

export type AnswerReader = {
  /**
   * Takes the next bytes of a connection; they may be overwritten afterwards. Says whether the answer is a success once
   * it is there as a whole, and null before.
   *
   * @throws Error where an answer does not say its length: all that is compared here answers with whole texts
   */
  read(bytes: Buffer): boolean | null
}

export function createAnswerReader(): AnswerReader {
  /** What has come of a head that is not there as a whole. */
  let partOfHead = Buffer.alloc(0)
  let isSuccess = false
  /** Bytes of the body that are still to come; null before its head is there. */
  let left: number | null = null
  let start = ''

  /** What of `bytes` is body, and null where the head goes on. */
  function readHead(bytes: Buffer): Buffer | null {
    // A copy, for `bytes` may be overwritten; most heads come whole.
    const all = partOfHead.length === 0 ? bytes : Buffer.concat([partOfHead, bytes])
    const end = all.indexOf(HEAD_END)
    if (end === -1) {
      partOfHead = Buffer.from(all)
      return null
    }
    const head = all.toString('latin1', 0, end + 2)
    const length = LENGTH.exec(head)?.[1]
    if (length === undefined) throw new Error(`An answer does not say its length: ${head}`)
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
      // The first bytes may come in pieces.
      if (start.length < ERROR_START.length)
        start += body.toString('latin1', 0, ERROR_START.length - start.length)
      left -= body.length
      if (left > 0) return null
      left = null
      return isSuccess && start !== ERROR_START
    },
  }
}
