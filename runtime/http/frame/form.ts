/**
 * Forms of the pages, and their protection against CSRF. Any site can send a form to any address, so each
 * form must come from one of Keyway's pages and carry a proof of its session.
 */

import type { Context } from 'hono'
import { CoreError, forbidden } from '../../contract/errors/problem.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import type { TokenHasher } from '../../core/kernel/identity/token-hasher.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { readBody } from '../edge/body.ts'
import type { Env } from '../edge/env.ts'

/**
 * Largest form, in bytes: the longest texts, percent-encoded, and some more, so that a text over its limit is
 * reported as such.
 */
const MAX_FORM_BYTES = 64 * 1024

/** Name of the field with the proof of the session. */
export const PROOF = 'form_token'

export type Form = ReadonlyMap<string, string>

/**
 * Reads a form. The last value of a repeated field counts.
 *
 * @throws CoreError `bad_request`, `unsupported_media_type`; RuntimeError `body_too_large`
 */
export async function readForm(c: Context<Env>): Promise<Form> {
  const type = c.req.header('content-type') ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    throw new CoreError('unsupported_media_type', 'Send the form of the page')
  const text = await readBody(c, { maxBytes: MAX_FORM_BYTES, maxMarks: INPUTS.call_body.maxMarks })
  try {
    const pairs = text.split('&').map((pair): [string, string] => {
      const end = pair.indexOf('=') < 0 ? pair.length : pair.indexOf('=')
      return [decoded(pair.slice(0, end)), decoded(pair.slice(end + 1))]
    })
    return new Map(pairs)
  } catch (cause) {
    throw new CoreError('bad_request', 'The form contains bytes that are not UTF-8', { cause })
  }
}

/**
 * Returns the form with texts that the database can store. Characters that it cannot store, such as NUL, are
 * replaced.
 */
export const keptForm = (form: Form): Form =>
  new Map([...form].map(([name, text]) => [name, keptText(text, text.length)]))

/** Decodes strictly. URLSearchParams would replace bytes that are not UTF-8. */
const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

/**
 * Refuses a request from another site. Browsers name the site in Sec-Fetch-Site, or, if they do not send that
 * header (some omit it over plain HTTP), in Origin. `same-site` counts as foreign: it includes other ports of
 * this machine.
 *
 * @throws CoreError `forbidden`
 */
export function refuseForeign(c: Context<Env>): void {
  const site = c.req.header('sec-fetch-site')
  const origin = c.req.header('origin')
  // A page without a referrer sends `null`, be it Keyway's or another site's. Then the proof alone decides.
  const isOurs =
    site === undefined
      ? origin === undefined ||
        origin === 'null' ||
        hostOf(origin) === c.req.header('host')?.toLowerCase()
      : site === 'same-origin' || site === 'none'
  if (!isOurs) throw forbidden('Another page sent this form, so nothing was done')
}

const hostOf = (origin: string): string | null => URL.parse(origin)?.host ?? null

/** Returns the proof for the forms of a secret's holder. It does not reveal the secret. */
export const proofOf = (hasher: TokenHasher, secret: string): string =>
  hasher.hash(`form ${secret}`).toString('base64url')

/** Reports whether a form carries the proof of the secret. */
export function isProven(hasher: TokenHasher, secret: string, form: Form): boolean {
  const given = Buffer.from(form.get(PROOF) ?? '', 'base64url')
  return given.length === 32 && hasher.matches(`form ${secret}`, given)
}
