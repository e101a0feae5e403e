/** The encodings in which systems echo the secrets that they received. */
import { describe, expect, test } from 'vitest'
import { createConceal } from '../../runtime/egress/blind/conceal.ts'
import { createRedact, REDACTED } from '../../runtime/redact/redact.ts'

const SECRET = `a+b=<c>&'d' "e"/(f)!é€ ~*`
const conceal = createConceal(() => [{ value: SECRET, instead: REDACTED }])
const room = { maxBytes: 1024, hold: () => {} }
const redact = createRedact(() => [SECRET])

const escaped = (text: string, which: RegExp, upper = false) =>
  text.replace(which, (one) => {
    const hex = one
      .charCodeAt(one.length - 1)
      .toString(16)
      .padStart(4, '0')
    return `\\u${upper ? hex.toUpperCase() : hex}`
  })
const json = JSON.stringify(SECRET).slice(1, -1)
const html = (quote: string, apostrophe: string, more: Record<string, string> = {}) => {
  const by: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', ...more }
  return SECRET.replace(/[&<>"'+]/g, (one) =>
    one === '"' ? quote : one === "'" ? apostrophe : (by[one] ?? one),
  )
}

/** Writer -> the secret as they encode it. */
const SPELLINGS: Record<string, string> = {
  'JSON of Python': escaped(json, /[^\0-\x7f]/g),
  'JSON of PHP': escaped(json, /[^\0-\x7f]/g).replaceAll('/', '\\/'),
  'JSON of Go': escaped(json, /[<>&]/g),
  'JSON of Gson': escaped(json, /[<>&=']/g),
  'JSON of .NET': escaped(json, /\\"|[<>&'+`]|[^\0-\x7f]/g, true),
  'HTML of Python': html('&quot;', '&#x27;'),
  'HTML of PHP': html('&quot;', '&#039;'),
  'HTML of Jinja': html('&#34;', '&#39;'),
  'HTML of Go': html('&#34;', '&#39;', { '+': '&#43;' }),
  'a form': new URLSearchParams([['', SECRET]]).toString().slice(1),
  'RFC 3986': encodeURIComponent(SECRET).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  ),
}

describe.each(Object.entries(SPELLINGS))('written as %s, a secret', (_who, written) => {
  test('does not enter the sandbox', async () => {
    expect(`${await conceal.body(Buffer.from(`x ${written} y`), room)}`).toBe(`x ${REDACTED} y`)
  })

  test('does not leave in a message', () => {
    expect(redact(`x ${written} y`)).toBe(`x ${REDACTED} y`)
  })
})

describe('pasted with white space around it, a secret', () => {
  const pasted = ' the-secret-token\n'
  const echoed = 'x the-secret-token y'

  test('does not enter the sandbox in its trimmed form', async () => {
    const { body } = createConceal(() => [{ value: pasted, instead: REDACTED }])
    expect(`${await body(Buffer.from(echoed), room)}`).toBe(`x ${REDACTED} y`)
  })

  test('does not leave in a message', () => {
    expect(createRedact(() => [pasted])(echoed)).toBe(`x ${REDACTED} y`)
  })

  test('is not hidden in its trimmed form if that is too short', async () => {
    const { body } = createConceal(() => [{ value: `${' '.repeat(20)}x`, instead: REDACTED }])
    expect(`${await body(Buffer.from(echoed), room)}`).toBe(echoed)
  })
})
