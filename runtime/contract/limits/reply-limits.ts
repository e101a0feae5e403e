/**
 * How large a reply may be. To a caller it goes as bytes; what the core asks for is parsed on the host's own thread,
 * where five million empty objects take seconds: there the number of values counts, not only the bytes.
 */

import { INPUTS } from './inputs.ts'

/** Longest reply of a connector, in bytes of JSON. */
export const MAX_REPLY_BYTES = 32 * 1024 * 1024

export type ReplyLimits = {
  /** In bytes of JSON. */
  maxBytes: number
  /** Most marks of structure, see `marksIn`: about two for each member of an object. */
  maxMarks: number
}

/**
 * A reply to a call of the core itself, a page of a sync for one. Measured: the worst text of 65,536 marks (short names,
 * each another one) is parsed in 30 ms of processor time, the worst of 4 MiB in 10, and counting adds up to 10. A page of
 * a thousand accounts with ten attributes each has some 50,000.
 */
export const CORE_REPLY_LIMITS: ReplyLimits = INPUTS.core_reply

const [CLOSING_BRACKET, CLOSING_BRACE] = [0x5d, 0x7d]
const [QUOTE, BACKSLASH, COMMA, COLON, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b]

/**
 * Counts what JSON is structured by: commas, colons, opening brackets and braces outside of texts. Linear in the bytes,
 * a nanosecond or two each; stops behind `most`. What is not JSON has a count as well.
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

/** Where the text ends that begins at a quote: at the next quote that no backslash is before, or where the bytes end. */
function endOfText(json: Uint8Array, quote: number): number {
  let at = quote + 1
  // Most bytes of most replies: nothing else is looked at for them.
  for (; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) return at
    if (byte === BACKSLASH) at++
  }
  return at
}

/** How deep JSON is nested at most; stops behind `most` levels. */
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

/** What of a reply is over its limits and what to do, or null. */
export function overLimits(json: Uint8Array, { maxBytes, maxMarks }: ReplyLimits): string | null {
  if (json.length > maxBytes)
    return `it has ${json.length} bytes, and a call of Keyway itself takes ${maxBytes}; ${SMALLER}`
  if (marksIn(json, maxMarks) > maxMarks)
    return `it holds more than ${maxMarks / 2} values, which is what a call of Keyway itself takes; ${SMALLER}`
  return null
}

const SMALLER = 'answer smaller pages: no more items than ctx.page.size, with a cursor to the next'
