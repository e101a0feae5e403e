/** Replaces placeholders in a body: JSON strings and urlencoded forms, nothing else. One scan of it. */
import { type HeaderList, headerValue } from '../exchange/headers.ts'
import { MAX_PARSED_BYTES } from '../limits/limits.ts'
import { countWhole, type Filling, fill, hidesMark, holdsMark } from './fill.ts'
import { misplaced, refuseSecret } from './refuse.ts'

/** A body above this is not looked through for placeholders that are escaped letter by letter, in bytes. */
const MAX_DECODED_BYTES = 64 * 1024

/**
 * The body with its values.
 *
 * @throws egress_secret
 */
export async function fillBody(
  body: Uint8Array | null,
  headers: HeaderList,
  filling: Filling,
): Promise<Uint8Array | null> {
  if (body === null || body.byteLength === 0) return body
  const { marks } = filling
  // A character for a byte: nothing of it changes on the way, whatever its encoding.
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')
  const type = headerValue(headers, 'content-type') ?? ''
  const kind = kindOf(type)
  if (!holdsMark(text, marks)) {
    const hidden =
      text.length <= MAX_DECODED_BYTES &&
      (hidesMark(text, marks) ||
        (kind === 'json' && /\\u00[3-7]/.test(text) && countInJson(text, marks) > 0))
    if (hidden) throw misplaced('encoded', 'the body')
    return body
  }
  if (text.length > MAX_PARSED_BYTES)
    throw refuseSecret(
      `The body holds a secret and has ${text.length} bytes: with a secret it may have ${MAX_PARSED_BYTES}`,
    )
  if (kind === 'json') checkJson(text, marks)
  else if (kind === 'form') return latin1(await fillForm(text, filling))
  // Pieces, base64 and those of other calls are told as what they are.
  else if (countWhole(text, marks) > 0) throw misplaced('body', type.split(';')[0])
  const filled = await fill(text, 'json', { ...filling, resolve: utf8(filling) }, 'the body')
  return latin1(filled)
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Values as the bytes of their UTF-8, a character each. */
const utf8 =
  ({ resolve }: Filling): Filling['resolve'] =>
  async (meaning, placeholder) =>
    Buffer.from(await resolve(meaning, placeholder)).toString('latin1')

function kindOf(type: string): 'json' | 'form' | 'other' {
  const [media = ''] = type.toLowerCase().split(';')
  if (/^[^/]+\/([^/]+\+)?json$/.test(media.trim())) return 'json'
  return media.trim() === 'application/x-www-form-urlencoded' ? 'form' : 'other'
}

/** The pairs of a form or of a query, each value with its secrets. */
export async function fillPairs(
  text: string,
  filling: Filling,
  what: 'query' | 'form',
): Promise<string> {
  const pairs = []
  for (const pair of text.split('&')) {
    const at = pair.indexOf('=')
    const name = at === -1 ? pair : pair.slice(0, at)
    if (holdsMark(name, filling.marks)) throw misplaced(`${what}_name`)
    const value = at === -1 ? '' : pair.slice(at + 1)
    if (hidesMark(pair, filling.marks)) throw misplaced('encoded', `the ${what}`)
    const filled = await fill(value, 'percent', filling, `${what} parameter ${name}`)
    pairs.push(at === -1 ? name : `${name}=${filled}`)
  }
  return pairs.join('&')
}

const fillForm = (text: string, filling: Filling): Promise<string> =>
  fillPairs(text, filling, 'form')

/** Every placeholder must be seen in a string value: not in a name, not by an escape, not in a double member. */
function checkJson(text: string, marks: Filling['marks']): void {
  const seen = countInJson(text, marks)
  if (seen === -1) throw misplaced('json_broken')
  const written = countWhole(text, marks)
  if (seen > written) throw misplaced('encoded', 'the body')
  if (seen < written) throw misplaced('json_name')
}

/** Whole placeholders in the string values of a JSON text; -1 where it is not JSON. */
function countInJson(text: string, marks: Filling['marks']): number {
  let count = 0
  try {
    JSON.parse(text, (_name, value) => {
      if (typeof value === 'string' && value.includes(marks.head)) count += countWhole(value, marks)
      return value
    })
  } catch {
    return -1
  }
  return count
}
