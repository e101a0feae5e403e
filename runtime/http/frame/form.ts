/**
 * Forms of the pages: how they are read, and how it is known that they are ours. Any page can
 * send a form to any address, so each must come from our own page and name its session's secret.
 */

import type { Context } from 'hono'
import { CoreError, forbidden } from '../../contract/errors/problem.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import type { TokenHasher } from '../../core/kernel/identity/token-hasher.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { readBody } from '../edge/body.ts'
import type { Env } from '../edge/env.ts'

/** Largest form, in bytes: the longest texts, percent-encoded, and room to be told that they are too long. */
const MAX_FORM_BYTES = 64 * 1024

/** Name of the field that proves that a form is ours. */
export const PROOF = 'form_token'

export type Form = ReadonlyMap<string, string>

/**
 * Reads a form; of a repeated field the last value counts.
 *
 * @throws CoreError bad_request, unsupported_media_type; RuntimeError body_too_large
 */
export async function readForm(c: Context<Env>): Promise<Form> {
  const type = c.req.header('content-type') ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    throw new CoreError('unsupported_media_type', 'Send the form that the page has')
  const text = await readBody(c, { maxBytes: MAX_FORM_BYTES, maxMarks: INPUTS.call_body.maxMarks })
  try {
    const pairs = text.split('&').map((pair): [string, string] => {
      const end = pair.indexOf('=') < 0 ? pair.length : pair.indexOf('=')
      return [decoded(pair.slice(0, end)), decoded(pair.slice(end + 1))]
    })
    return new Map(pairs)
  } catch (cause) {
    throw new CoreError('bad_request', 'The form holds bytes that are not UTF-8', { cause })
  }
}

/** The same form with texts that the database can keep: what it cannot, such as NUL, is another character. */
export const keptForm = (form: Form): Form =>
  new Map([...form].map(([name, text]) => [name, keptText(text, text.length)]))

/** Unlike URLSearchParams, which puts another character in place of what is not UTF-8. */
const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

/**
 * Refuses what another page sent. Browsers say whose page it is in Sec-Fetch-Site; those that do not, or
 * not over plain http, in Origin. `same-site` is foreign: another port of this machine is.
 *
 * @throws CoreError forbidden
 */
export function refuseForeign(c: Context<Env>): void {
  const site = c.req.header('sec-fetch-site')
  const origin = c.req.header('origin')
  // `null` is what a page without a referrer sends, ours and others: then the proof alone decides.
  const isOurs =
    site === undefined
      ? origin === undefined ||
        origin === 'null' ||
        hostOf(origin) === c.req.header('host')?.toLowerCase()
      : site === 'same-origin' || site === 'none'
  if (!isOurs) throw forbidden('Another page sent this form, so nothing was done')
}

const hostOf = (origin: string): string | null => URL.parse(origin)?.host ?? null

/** What forms of the holder of a secret carry; it tells nothing of the secret. */
export const proofOf = (hasher: TokenHasher, secret: string): string =>
  hasher.hash(`form ${secret}`).toString('base64url')

/** Whether a form carries the proof of a secret's holder. */
export function isProven(hasher: TokenHasher, secret: string, form: Form): boolean {
  const given = Buffer.from(form.get(PROOF) ?? '', 'base64url')
  return given.length === 32 && hasher.matches(`form ${secret}`, given)
}
