/**
 * Placeholders of secrets in the sandbox: `[A-Za-z0-9]` only, different in every call, useless outside of it.
 * The invoking side makes them, egress replaces them, and the worker recognises one that is used as a key.
 * Source: runtime/docs/authors/manifest.md, "Secrets".
 *
 * `head` and `tail` are random for each host process, so that outsiders cannot make data that looks like a
 * placeholder. If a placeholder is cut in two, one of them is still whole and found.
 *
 *     kwsecret 4f9a1c2e | 0123456789abcdef | s000 | kw 5b0c9d8e7f
 *     head              | the call         | what | tail
 */

/** Start of every placeholder of every process. */
const STEM = 'kwsecret'

/** Strings from which one host process makes its placeholders, and the expression that finds them. */
export type Marks = {
  head: string
  tail: string
  /**
   * Matches every placeholder, part of one, or base64 of one in a text. Groups of a whole one: call, index of
   * a secret, `e` for the token of the exchange, what to sign (JSON in hexadecimal).
   */
  scan: RegExp
}

/** The value that a placeholder stands for. */
export type Meaning = { secret: number } | { exchange: true } | { sign: string }

/** Creates the marks of a host process. */
export function createMarks(): Marks {
  const random = crypto.randomUUID().replaceAll('-', '')
  const head = `${STEM}${random.slice(0, 8)}`
  const tail = `kw${random.slice(22, 32)}`
  const whole = `${head}([0-9a-f]{16})(?:s([0-9a-z]{3})|(e)|d((?:[0-9a-f]{2})+))${tail}`
  return { head, tail, scan: new RegExp([whole, head, tail, ...inBase64(head)].join('|'), 'g') }
}

/**
 * Random bytes for the marks of many calls. Requesting them for each call takes longer than the rest of the
 * function.
 */
const POOL: Buffer<ArrayBuffer> = Buffer.alloc(4096)
const MARK_BYTES = 8
let spent = POOL.length

/** Returns sixteen hexadecimal digits that distinguish one call's placeholders from all others. */
export function createCallMark(): string {
  if (spent === POOL.length) {
    crypto.getRandomValues(POOL)
    spent = 0
  }
  const from = spent
  spent += MARK_BYTES
  return POOL.toString('hex', from, spent)
}

/** Returns the placeholder of a call's secret with this index. */
export const secretPlaceholder = (marks: Marks, call: string, index: number): string =>
  `${marks.head}${call}s${index.toString(36).padStart(3, '0')}${marks.tail}`

/** Returns the placeholder of the exchange's token. */
export const exchangePlaceholder = (marks: Pick<Marks, 'head' | 'tail'>, call: string): string =>
  `${marks.head}${call}e${marks.tail}`

/**
 * Returns the placeholder of a signature that the host makes. It contains the description of what to sign.
 */
export const signPlaceholder = (
  marks: Pick<Marks, 'head' | 'tail'>,
  call: string,
  hex: string,
): string => `${marks.head}${call}d${hex}${marks.tail}`

/** Reports whether a text contains a placeholder of any process. */
export const holdsPlaceholder = (text: string): boolean => /kwsecret[0-9a-f]{24}/.test(text)

/** Returns the base64 forms of a text inside longer data, one for each of the three possible offsets. */
function inBase64(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = btoa(`${'x'.repeat(before)}${text}`)
    // Keep only the digits that do not depend on neighbouring bytes.
    const from = Math.ceil((before * 8) / 6)
    const to = Math.floor(((before + text.length) * 8) / 6)
    return encoded.slice(from, to)
  })
}
