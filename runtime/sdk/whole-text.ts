import { ConnectorError } from './connector-error.ts'

/** How JSON writes half of a character: a lone surrogate, with an even number of backslashes before its own. */
const HALF_IN_JSON = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/

/**
 * The text as it is. UTF-8 has no half of a character (a lone surrogate): it would be sent as U+FFFD, which may be the name
 * of somebody else.
 *
 * @throws bad_request for a text with half of a character.
 */
export function wholeText(text: string, what: string): string {
  if (text.isWellFormed()) return text
  throw half(what)
}

/** The same for a text of JSON, where the half is written as an escape. */
export function wholeJson(json: string): string {
  if (HALF_IN_JSON.test(json)) throw half('A text')
  return json
}

const half = (what: string) =>
  new ConnectorError('bad_request', `${what} holds half of a character (a lone surrogate)`)
