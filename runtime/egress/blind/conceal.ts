/**
 * Takes secrets out of replies, where they would enter the sandbox: an upstream that echoes one gives its
 * placeholder back, so that what is sent back to it works. What an upstream transforms and echoes cannot
 * be found: the documented limit.
 */
import { base64Forms, textForms } from '../../contract/secret-forms.ts'
import type { HeaderList } from '../headers.ts'

/** Shorter ones are left: they would be found in ordinary words. In characters. */
export const MIN_CONCEALED_LENGTH = 12

/** A text that is not for the sandbox, and what stands for it there. */
export type Concealed = { value: string; instead: string }

export type Conceal = {
  /** One more secret of the call: derived ones are known only when they are made. */
  add(one: Concealed): void
  headers(headers: HeaderList): HeaderList
  body(body: Buffer): Buffer
}

/**
 * Makes what conceals the secrets of one call. Nothing is made before the first reply.
 *
 * @param secrets Asked for once.
 */
export function createConceal(secrets: () => readonly Concealed[]): Conceal {
  let forms: Map<string, string> | null = null
  const needles: Buffer[] = []
  let pattern: RegExp | null = null
  const later: Concealed[] = []
  const added = new Set<string>()

  /** Every form in which one may come, as bytes of UTF-8 with a character for each. */
  function prepare(): Map<string, string> {
    if (forms === null) {
      forms = new Map()
      later.unshift(...secrets())
    }
    if (later.length === 0) return forms
    // White space around a value of a header is lost on the way.
    const all = later.splice(0).flatMap((one) => [one, { ...one, value: one.value.trim() }])
    for (const { value, instead } of all) {
      if (value.length < MIN_CONCEALED_LENGTH) continue
      for (const [form, replacement] of formsOf(value, instead)) {
        // A header is Latin-1, and so is the text of some upstreams.
        for (const bytes of isLatin1(form) ? [utf8(form), latin1(form)] : [utf8(form)]) {
          const key = bytes.toString('latin1')
          if (forms.has(key)) continue
          forms.set(key, replacement)
          needles.push(bytes)
        }
      }
    }
    pattern = null
    return forms
  }

  function replace(text: string, known: Map<string, string>): string {
    if (![...known.keys()].some((form) => text.includes(form))) return text
    pattern ??= patternOf([...known.keys()])
    return text.replace(pattern, (form) => known.get(form) ?? '')
  }

  return {
    add(one) {
      if (added.has(one.value)) return
      added.add(one.value)
      later.push(one)
    },
    headers(headers) {
      const known = prepare()
      if (known.size === 0) return headers
      // As received a header is Latin-1: a character for a byte.
      return headers.map(([name, value]) => [replace(name, known), replace(value, known)] as const)
    },
    body(body) {
      const known = prepare()
      if (!needles.some((needle) => body.includes(needle))) return body
      return Buffer.from(replace(body.toString('latin1'), known), 'latin1')
    },
  }
}

const utf8 = (text: string): Buffer => Buffer.from(text)
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Whether a text is Latin-1 and more than ASCII: only then its bytes differ from those of UTF-8. */
const isLatin1 = (text: string): boolean =>
  /[\u0080-\u00ff]/.test(text) && !/[^\0-\u00ff]/.test(text)

/**
 * The forms, the longest first (one may be a part of another), standing alone: no letter or digit beside
 * them but one that ends an escape (`\n`, `\u000a`, `%0A`).
 */
function patternOf(forms: readonly string[]): RegExp {
  const all = [...forms].sort((a, b) => b.length - a.length).map(RegExp.escape)
  return new RegExp(
    `(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}|\\\\[nrtbf]|\\\\u[0-9A-Fa-f]{4}))(?:${all.join('|')})(?![A-Za-z0-9])`,
    'g',
  )
}

/** A secret in every form in which upstreams echo one, and what replaces it in each. */
function formsOf(value: string, instead: string): [form: string, instead: string][] {
  const encoded = base64Forms(instead)
  return [
    ...textForms(value).map((form): [string, string] => [form, instead]),
    ...base64Forms(value).map((form, at): [string, string] => [form, encoded[at] as string]),
    [utf16(value).toString('latin1'), utf16(instead).toString('latin1')],
    [utf16(value).swap16().toString('latin1'), utf16(instead).swap16().toString('latin1')],
  ]
}
