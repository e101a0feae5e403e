/** A query as it may be logged: its names, and the values that are no secrets. What is in doubt is hidden. */

/** Parameters that are told, and the longest name and value, in characters. */
const MAX_PARAMETERS = 20
const MAX_NAME = 40
const MAX_VALUE = 60
/** How much of a query is read, and the longest that is told, in characters. */
const MAX_READ = 8000
const MAX_TOLD = 500

const HIDDEN = '…'

/** Parts of names whose values are never told. */
const SOUNDS_SECRET =
  /token|secret|passw|passphrase|pwd|key|sig|auth|sess|cred|code|jwt|saml|assert|otp|hmac|nonce|ticket|cookie|csrf|bearer|(^|[^a-z])(pass|pin|sid|state|hash|sas)([^a-z]|$)/i

/** Names of places in a list: long ones hold what the system likes, and say nothing to a reader. */
const IS_CURSOR =
  /cursor|continu|bookmark|marker|skip|scroll|(^|[^a-z])(after|before|next|page)([^a-z]|$)/i
const MAX_CURSOR = 12

type Redact = (text: string) => string

/** The query with its question mark, or nothing; without a redactor no value is told. */
export function tellQuery(search: string, redact: Redact | undefined): string {
  if (search.length < 2) return ''
  const read = search.slice(1, MAX_READ + 1)
  // The last may have been cut in the middle of what a redactor would know.
  const all = read.split('&').slice(0, search.length - 1 > MAX_READ ? -1 : undefined)
  const told = all.slice(0, MAX_PARAMETERS).map((part) => tellParameter(part, redact))
  const more = all.length > told.length || search.length - 1 > MAX_READ
  const text = `?${told.join('&')}${more ? `&${HIDDEN}` : ''}`
  return text.length <= MAX_TOLD ? text : `${text.slice(0, MAX_TOLD)}${HIDDEN}`
}

function tellParameter(part: string, redact: Redact | undefined): string {
  const [[name, value] = ['', '']] = new URLSearchParams(part)
  // Systems take a bare word for a value as well as for a name.
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

/** `pageToken` as `page_Token`: some names only sound like something as a word of their own. */
const words = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2')

/** Whether a text is a secret of the call in one of its forms, or looks as if a machine had made it. */
function isDoubtful(text: string, redact: Redact = (same) => same): boolean {
  const forms = [text, decoded(text), decoded(decoded(text)), fromBase64(text)]
  return forms.some((form) => redact(form) !== form) || forms.slice(0, 3).some(looksMade)
}

/** Runs of letters and digits as tokens and ids have them, but words, dates and numbers do not. */
function looksMade(text: string): boolean {
  for (const [run] of text.matchAll(/[A-Za-z0-9_~+/.-]{16,}/g))
    if (run.length >= 32 || /\d/.test(run)) return true
  return false
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A % that stands for itself.
    return text
  }
}

const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8')

/** Readable, and on one line; what would divide it into parameters stays encoded. */
const shown = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .replaceAll('%20', '+')
    .replace(/%(22|24|2C|2F|3A|3B|40|5B|5D)/g, (sign) => decodeURIComponent(sign))
