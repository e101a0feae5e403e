/** Forms in which upstreams echo a secret, as bytes, and the replacement of each. */
import { base64Forms, textForms } from '../../redact/secret-forms.ts'

/** Minimum length of a concealed secret, in characters. Shorter ones would be found in ordinary words. */
export const MIN_CONCEALED_LENGTH = 12

/** Secret to be concealed from the sandbox, and its replacement. */
export type Concealed = { value: string; instead: string }

/** One form of a secret, and its replacement. */
export type Echo = { bytes: Buffer; instead: Buffer }

/** Returns all forms in which a secret may be echoed. May contain duplicates. */
export function echoesOf({ value, instead }: Concealed): Echo[] {
  // White space around a header's value is lost in transit.
  return [...new Set([value, value.trim()])]
    .filter((text) => text.length >= MIN_CONCEALED_LENGTH)
    .flatMap((text) => formsOf(text, instead))
}

function formsOf(value: string, instead: string): Echo[] {
  const texts = [...new Set(textForms(value))].map((form) => [form, instead] as const)
  const encoded = base64Forms(instead)
  const base64 = base64Forms(value).map((form, at) => [form, encoded[at] ?? ''] as const)
  return [
    ...[...texts, ...base64].flatMap(([form, place]) => [
      { bytes: utf8(form), instead: utf8(place) },
      // A header is Latin-1, and so is the text of some upstreams.
      ...(isLatin1(form) ? [{ bytes: latin1(form), instead: latin1(place) }] : []),
    ]),
    { bytes: utf16(value), instead: utf16(instead) },
    { bytes: utf16(value).swap16(), instead: utf16(instead).swap16() },
  ]
}

const utf8 = (text: string): Buffer => Buffer.from(text)
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Reports whether a text is Latin-1 but not ASCII. Only then do its bytes differ from UTF-8. */
const isLatin1 = (text: string): boolean =>
  /[\u0080-\u00ff]/.test(text) && !/[^\0-\u00ff]/.test(text)
