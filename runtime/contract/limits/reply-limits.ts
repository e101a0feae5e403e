/**
 * Size limits of replies. A reply to a caller is passed on as bytes. A reply to the core is parsed on the
 * host's main thread, where five million empty objects take seconds, so the number of values is limited as
 * well as the bytes.
 */

import { INPUTS } from './inputs.ts'

/** Maximum length of a connector's reply, in bytes of JSON. */
export const MAX_REPLY_BYTES = 32 * 1024 * 1024

export type ReplyLimits = {
  /** In bytes of JSON. */
  maxBytes: number
  /** Maximum number of structural characters, see `marksIn`: about two for each member of an object. */
  maxMarks: number
}

/**
 * Limits of a reply to a call of the core itself, such as a page of a sync. Measured: the worst text of
 * 65,536 marks (short, distinct names) is parsed in 30 ms of processor time, the worst of 4 MiB in 10, and
 * counting adds up to 10. A page of a thousand accounts with ten attributes each has some 50,000 marks.
 */
export const CORE_REPLY_LIMITS: ReplyLimits = INPUTS.core_reply

const [CLOSING_BRACKET, CLOSING_BRACE] = [0x5d, 0x7d]
const [QUOTE, BACKSLASH, COMMA, COLON, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b]

/**
 * Counts the structural characters of JSON: commas, colons, and opening brackets and braces outside strings.
 * Linear in the bytes, at a nanosecond or two each. Stops once the count exceeds `most`. Input that is not
 * JSON has a count, too.
 */
export function marksIn(json: Uint8Array, most: number): number {
  let marks = 0
  for (let at = 0; at < json.length && marks <= most; at++) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfText(json, at)
    else if (byte === COMMA || byte === COLON || byte === BRACKET || byte === BRACE) marks++
  }
  return marks
}

/**
 * Returns the end of the string that begins at a quote: the next unescaped quote, or the end of the bytes.
 */
function endOfText(json: Uint8Array, quote: number): number {
  let at = quote + 1
  // Most bytes of most replies pass through this loop, so it checks nothing else.
  for (; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) return at
    if (byte === BACKSLASH) at++
  }
  return at
}

/** Returns the deepest nesting level of JSON. Stops once it exceeds `most`. */
export function levelsIn(json: Uint8Array, most: number): number {
  let [level, deepest] = [0, 0]
  let isText = false
  for (let at = 0; at < json.length && deepest <= most; at++) {
    const byte = json[at]
    if (isText) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (byte === BRACKET || byte === BRACE) deepest = Math.max(deepest, ++level)
    else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) level--
  }
  return deepest
}

/** Returns which limit a reply exceeds and what to do about it, or null. */
export function overLimits(json: Uint8Array, { maxBytes, maxMarks }: ReplyLimits): string | null {
  if (json.length > maxBytes)
    return `it has ${json.length} bytes, and a call of Keyway itself takes ${maxBytes}; ${SMALLER}`
  return marksIn(json, maxMarks) > maxMarks ? overMarks({ maxMarks }) : null
}

/** Returns what is said about a reply with too many structural characters. */
export const overMarks = ({ maxMarks }: Pick<ReplyLimits, 'maxMarks'>): string =>
  `it holds more than ${maxMarks / 2} values, which is what a call of Keyway itself takes; ${SMALLER}`

const SMALLER = 'answer smaller pages: no more items than ctx.page.size, with a cursor to the next'
