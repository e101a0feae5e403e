/**
 * Replaces placeholders in JSON strings and urlencoded forms, the only supported bodies. Scans the body once.
 */
import { type HeaderList, headerValue } from '../exchange/headers.ts'
import { MAX_PARSED_BYTES } from '../limits/limits.ts'
import { countWhole, type Filling, fill, hidesMark, holdsMark } from './fill.ts'
import { misplaced, refuseSecret } from './refuse.ts'

/** Maximum size of a body that is searched for placeholders with escaped letters, in bytes. */
const MAX_DECODED_BYTES = 64 * 1024

/**
 * Returns the body with its secrets.
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
  // One character per byte, so that no byte changes in any encoding.
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
  // Otherwise `fill` reports pieces, base64 and placeholders of other calls.
  else if (countWhole(text, marks) > 0) throw misplaced('body', type.split(';')[0])
  const filled = await fill(text, 'json', { ...filling, resolve: utf8(filling) }, 'the body')
  return latin1(filled)
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Resolves values to their UTF-8 bytes, one character each. */
const utf8 =
  ({ resolve }: Filling): Filling['resolve'] =>
  async (meaning, placeholder) =>
    Buffer.from(await resolve(meaning, placeholder)).toString('latin1')

function kindOf(type: string): 'json' | 'form' | 'other' {
  const [media = ''] = type.toLowerCase().split(';')
  if (/^[^/]+\/([^/]+\+)?json$/.test(media.trim())) return 'json'
  return media.trim() === 'application/x-www-form-urlencoded' ? 'form' : 'other'
}

/** Returns the pairs of a form or of a query, each value with its secrets. */
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

/**
 * Requires that every placeholder is in a string value: not in a name, not escaped, not in a duplicate member.
 */
function checkJson(text: string, marks: Filling['marks']): void {
  const seen = countInJson(text, marks)
  if (seen === -1) throw misplaced('json_broken')
  const written = countWhole(text, marks)
  if (seen > written) throw misplaced('encoded', 'the body')
  if (seen < written) throw misplaced('json_name')
}

/** Returns the number of complete placeholders in the strings of a JSON text, or -1 if it is not JSON. */
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
