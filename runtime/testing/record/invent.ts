/** What stands in a case in the place of a secret: the same wherever the secret stood, and in every form of it. */
import { generateKeyPairSync } from 'node:crypto'
import { base64Forms, textForms } from '../../redact/secret-forms.ts'

/** Shorter secrets cannot be told from ordinary text: where one is found, nothing is written. In characters. */
const MIN_REPLACED_LENGTH = 8

/** A text that must not be kept, and what is kept instead. */
export type Invented = { real: string; instead: string }

type Hide = {
  /** The text without secrets. */
  text(text: string): string
  /** The JSON value without secrets, in names too. */
  value(value: unknown): unknown
  /** Whether a text still holds one, in any form. */
  leaks(text: string): boolean
}

/** Makes what hides all of them, the longest form first: one may be a part of another. */
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

/** Finds a text where no letter or digit stands beside it. */
const aloneIn = (text: string): RegExp =>
  new RegExp(`(?<![A-Za-z0-9])${RegExp.escape(text)}(?![A-Za-z0-9])`)

/**
 * An invented value for the secret of a field: the one of the file's defaults, a new key for a key, otherwise
 * a word that says what it is.
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
