/** Finds the secrets of a recording and their replacements in its case. */
import { isCapability } from '../../contract/capabilities/capabilities.ts'
import type { CaseDefaults } from '../../contract/connector/cases.ts'
import { type CallSecrets, type SecretParts, secretsOf } from '../../contract/connector/secrets.ts'
import { membersOf } from '../../contract/schema/record.ts'
import type { SeenHop } from '../../egress/hop/observed-hops.ts'
import type { ServedVersion } from '../../invoke/ports.ts'
import { type Invented, invent } from './invent.ts'

/** Names of members of answers whose text is secret or changes each time. */
const SECRET_NAME =
  /token|secret|passw|pwd|api_?-?key|private_?key|authorization|cookie|session|credential|signature|hash$|salt$/i

/** Length below which the text of such a member is a word and not a secret, in characters. */
const MIN_MEMBER_LENGTH = 8

/**
 * Returns replacements for the calls' own secrets, the tokens of their logins, and the secrets in answers.
 */
export function inventedFor(
  clear: SecretParts,
  { version, capability, hops }: { version: ServedVersion; capability: string; hops: SeenHop[] },
  defaults: CaseDefaults,
): Invented[] {
  const request = isCapability(capability) ? version.request(capability) : null
  const schemas = { settings: version.settings, request: request ?? version.settings }
  const own = new Set(secretsOf(clear, schemas))
  const all: Invented[] = []
  const taken = new Set<string>()
  const add = (real: string, wanted: string) => {
    if (all.some((one) => one.real === real)) return
    let instead = wanted
    for (let next = 2; taken.has(instead); next += 1) instead = `${wanted}-${next}`
    taken.add(instead)
    all.push({ real, instead })
  }
  for (const { at, text } of textsOf(partsOf(clear)))
    if (own.has(text)) add(text, invent(at.at(-1) ?? '', text, valueAt(partsOf(defaults), at)))
  // The pair of Basic credentials is a secret of its own: its base64 resembles neither half.
  for (const { basic } of [clear.auth, ...Object.values(clear.credentials ?? {})].flatMap(
    (one) => one ?? [],
  ))
    if (basic) {
      const { username, password } = basic
      const instead = all.find((one) => one.real === password)?.instead ?? password
      all.push({ real: `${username}:${password}`, instead: `${username}:${instead}` })
    }
  for (const { token } of hops) if (token !== null) add(token, 'invented-secret-of-the-login')
  for (const hop of hops)
    for (const { at, text } of textsOf(parsed(hop))) {
      const name = at.findLast((one) => !/^\d+$/.test(one)) ?? ''
      if (SECRET_NAME.test(name) && isSecretLike(text)) add(text, `invented-secret-${name}`)
    }
  return [...all, ...marksOf(hops, all)]
}

/**
 * Returns replacements for the placeholders of the calls, which differ on each page. A signed value has no
 * placeholder that could be restored.
 */
function marksOf(hops: readonly SeenHop[], all: readonly Invented[]): Invented[] {
  const calls = [...new Set(hops.flatMap(({ secrets }) => secrets ?? []))]
  return calls.flatMap(({ secrets }: CallSecrets) =>
    secrets.map(({ placeholder, value }) => ({
      real: placeholder,
      instead: all.find(({ real }) => real === value)?.instead ?? value,
    })),
  )
}

/**
 * Reports whether a text is neither a word nor an address. A placeholder of a call has its own replacement.
 */
const isSecretLike = (text: string): boolean =>
  text.length >= MIN_MEMBER_LENGTH && !text.includes('kwsecret') && !/^https?:/.test(text)

/** Returns credentials by id. Callers may send them as a list, too. */
function partsOf(parts: SecretParts | CaseDefaults): Record<string, unknown> {
  const { credentials } = parts
  const byId = Array.isArray(credentials)
    ? Object.fromEntries(credentials.map((one) => [String(membersOf(one)['id']), one]))
    : credentials
  return { ...parts, credentials: byId }
}

/** Returns the body of a hop as JSON, or null if it is not JSON. */
export function parsed({ reply }: SeenHop): unknown {
  try {
    return JSON.parse(String(reply?.body ?? ''))
  } catch {
    // A text, or nothing.
    return null
  }
}

type Text = { at: string[]; text: string }

function textsOf(value: unknown, at: string[] = []): Text[] {
  if (typeof value === 'string') return [{ at, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => textsOf(one, [...at, name]))
}

const valueAt = (value: unknown, at: readonly string[]): unknown =>
  at.reduce<unknown>((one, name) => membersOf(one)[name], value)
