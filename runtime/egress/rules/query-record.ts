/** Queries for the log: their names, and the values that are not secret. Doubtful values are hidden. */

/** Maximum number of shown parameters, and maximum length of a name and a value, in characters. */
const MAX_PARAMETERS = 20
const MAX_NAME = 40
const MAX_VALUE = 60
/** Maximum length of a query that is read, and that is shown, in characters. */
const MAX_READ = 8000
const MAX_RECORDED = 500

const HIDDEN = '…'

/** Parts of names whose values are never shown. */
const SOUNDS_SECRET =
  /token|secret|passw|passphrase|pwd|key|sig|auth|sess|cred|code|jwt|saml|assert|otp|hmac|nonce|ticket|cookie|csrf|bearer|(^|[^a-z])(pass|pin|sid|state|hash|sas)([^a-z]|$)/i

/** Names of positions in a list. Long ones contain arbitrary data of the system, of no use to a reader. */
const IS_CURSOR =
  /cursor|continu|bookmark|marker|skip|scroll|(^|[^a-z])(after|before|next|page)([^a-z]|$)/i
const MAX_CURSOR = 12

type Redact = (text: string) => string

/** Returns the query with its question mark, or an empty text. Without a redactor, no value is shown. */
export function tellQuery(search: string, redact: Redact | undefined): string {
  if (search.length < 2) return ''
  const read = search.slice(1, MAX_READ + 1)
  // The last parameter may be cut inside a secret, which the redactor would not recognize.
  const all = read.split('&').slice(0, search.length - 1 > MAX_READ ? -1 : undefined)
  const parameters = all.slice(0, MAX_PARAMETERS).map((part) => recordedParameter(part, redact))
  const more = all.length > parameters.length || search.length - 1 > MAX_READ
  const text = `?${parameters.join('&')}${more ? `&${HIDDEN}` : ''}`
  return text.length <= MAX_RECORDED ? text : `${text.slice(0, MAX_RECORDED)}${HIDDEN}`
}

function recordedParameter(part: string, redact: Redact | undefined): string {
  const [[name, value] = ['', '']] = new URLSearchParams(part)
  // Some systems take a bare word for a value, others for a name.
  if (name.length > MAX_NAME || isDoubtful(name, redact)) return `${HIDDEN}=${HIDDEN}`
  if (value === '') return shown(name) + (part.includes('=') ? '=' : '')
  const hide =
    redact === undefined ||
    SOUNDS_SECRET.test(words(name)) ||
    value.length > (IS_CURSOR.test(words(name)) ? MAX_CURSOR : MAX_VALUE) ||
    isDoubtful(value, redact) ||
    isDoubtful(part, redact)
  return `${shown(name)}=${hide ? HIDDEN : shown(value)}`
}

/** Returns `page_Token` for `pageToken`: some names are only matched as separate words. */
const words = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2')

/** Reports whether a text is a secret of the call in one of its forms, or looks machine-generated. */
function isDoubtful(text: string, redact: Redact = (same) => same): boolean {
  const forms = [text, decoded(text), decoded(decoded(text)), fromBase64(text)]
  return forms.some((form) => redact(form) !== form) || forms.slice(0, 3).some(looksGenerated)
}

/** Matches runs of letters and digits like those of tokens and ids, but not words, dates and numbers. */
function looksGenerated(text: string): boolean {
  for (const [run] of text.matchAll(/[A-Za-z0-9_~+/.-]{16,}/g))
    if (run.length >= 32 || /\d/.test(run)) return true
  return false
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // The % is not part of an encoding.
    return text
  }
}

const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8')

/** Returns a readable text on one line. Characters that separate parameters stay encoded. */
const shown = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .replaceAll('%20', '+')
    .replace(/%(22|24|2C|2F|3A|3B|40|5B|5D)/g, (sign) => decodeURIComponent(sign))
