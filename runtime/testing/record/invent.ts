/** Replaces secrets in a case: each by the same text at every occurrence, in every encoding. */
import { generateKeyPairSync } from 'node:crypto'
import { base64Forms, textForms } from '../../redact/secret-forms.ts'

/**
 * Minimum length of a replaced secret, in characters. A shorter one is indistinguishable from ordinary text:
 * if one is found, no case is written.
 */
const MIN_REPLACED_LENGTH = 8

/** Text that must not be recorded, and its replacement. */
export type Invented = { real: string; instead: string }

type Hide = {
  /** Returns the text without secrets. */
  text(text: string): string
  /** Returns the JSON value without secrets, also in names. */
  value(value: unknown): unknown
  /** Reports whether a text still contains a secret, in any encoding. */
  leaks(text: string): boolean
}

/**
 * Makes the functions that hide all given secrets. The longest form is replaced first, because one may be
 * part of another.
 */
export function createHide(all: readonly Invented[]): Hide {
  const forms = new Map<string, string>()
  const short: RegExp[] = []
  for (const { real, instead } of all) {
    if (real.length < MIN_REPLACED_LENGTH) {
      if (real !== '') short.push(aloneIn(real))
      continue
    }
    for (const [form, replacement] of formsOf(real, instead))
      if (!forms.has(form) && form !== replacement) forms.set(form, replacement)
  }
  const inOrder = [...forms].sort(([a], [b]) => b.length - a.length)
  const kept = new Set(forms.values())
  const text = (given: string): string =>
    inOrder.reduce((rest, [form, instead]) => rest.replaceAll(form, () => instead), given)
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given)
    if (typeof given !== 'object' || given === null) return given
    if (Array.isArray(given)) return given.map(value)
    return Object.fromEntries(Object.entries(given).map(([name, one]) => [text(name), value(one)]))
  }
  return {
    text,
    value,
    leaks: (given) =>
      inOrder.some(([form]) => !kept.has(form) && given.includes(form)) ||
      short.some((one) => one.test(given)),
  }
}

function formsOf(real: string, instead: string): [string, string][] {
  const pair = (as: (text: string) => string[]) => {
    const to = as(instead)
    return as(real).map((form, at): [string, string] => [form, to[at] ?? ''])
  }
  return [...pair(textForms), ...pair(base64Forms)]
}

/** Matches a text that is not adjacent to a letter or digit. */
const aloneIn = (text: string): RegExp =>
  new RegExp(`(?<![A-Za-z0-9])${RegExp.escape(text)}(?![A-Za-z0-9])`)

/**
 * Invents a value for the secret of a field: the one of the file's defaults, a new key for a key, or else a
 * word that describes it.
 */
export function invent(field: string, real: string, ofDefaults: unknown): string {
  if (typeof ofDefaults === 'string' && ofDefaults !== '') return ofDefaults
  if (real.includes('PRIVATE KEY-----'))
    return generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    }).privateKey
  return `invented-secret-${field}`
}
