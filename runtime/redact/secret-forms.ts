/**
 * Forms in which systems repeat a secret that they were sent. They are searched for in replies that enter the
 * sandbox, and in text that leaves a call. A secret that was transformed in another way cannot be found.
 */

/**
 * Returns the text forms of a secret: as it is, percent-encoded, in JSON, in JSON inside JSON, and in HTML.
 * May contain duplicates.
 */
export function textForms(secret: string): string[] {
  // An unpaired surrogate cannot be percent-encoded; `encodeURIComponent` would throw.
  const whole = secret.toWellFormed()
  const percent = encodeURIComponent(whole)
  const strict = percent.replace(/[!'()*]/g, percentOf)
  const json = JSON.stringify(secret).slice(1, -1)
  const ascii = json.replace(NOT_ASCII, escapeOf)
  return [
    secret,
    ...[percent, strict].flatMap((one) => [one, one.replace(/%[0-9A-F]{2}/g, lower)]),
    encodeURI(whole),
    new URLSearchParams([['', secret]]).toString().slice(1),
    strict.replaceAll('%20', '+'),
    json,
    JSON.stringify(json).slice(1, -1),
    json.replaceAll('/', '\\/'),
    // Python and PHP, Go, Gson, .NET: each escapes more than necessary.
    ascii,
    ascii.replaceAll('/', '\\/'),
    json.replace(/[<>&\u2028\u2029]/g, escapeOf),
    json.replace(/[<>&=']/g, escapeOf),
    json.replace(/\\"|[<>&'+`]|[^\0-\x7f]/g, (one) =>
      escapeOf(one).toUpperCase().replace('U', 'u'),
    ),
    ...HTML.map((by) => secret.replace(/[&<>"'+]/g, (one) => by[one] ?? one)),
  ]
}

/** Returns the base64 forms of a text: padded, without padding, and base64url. */
export function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text)
  const base64 = bytes.toString('base64')
  return [base64, base64.replace(/=+$/, ''), bytes.toString('base64url')]
}

const NOT_ASCII = /[^\0-\x7f]/g

const lower = (text: string): string => text.toLowerCase()

const percentOf = (one: string): string => `%${hexOf(one).slice(2).toUpperCase()}`

/** Returns `\u0022`, also for a character preceded by a backslash. */
const escapeOf = (one: string): string => `\\u${hexOf(one)}`

const hexOf = (text: string): string =>
  text
    .charCodeAt(text.length - 1)
    .toString(16)
    .padStart(4, '0')

/** HTML escapes. The characters are the same in each style, the escapes of quotes differ. */
const MARKS = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const HTML: readonly Record<string, string>[] = [
  { ...MARKS, '"': '&quot;', "'": '&#39;' },
  { ...MARKS, '"': '&quot;', "'": '&#x27;' },
  { ...MARKS, '"': '&quot;', "'": '&#039;' },
  { ...MARKS, '"': '&#34;', "'": '&#39;' },
  { ...MARKS, '"': '&#34;', "'": '&#39;', '+': '&#43;' },
  { ...MARKS, '"': '&quot;' },
]
