import { ConnectorError } from './connector-error.ts'

/** Matches a lone surrogate escaped in JSON: its backslash follows an even number of backslashes. */
const HALF_IN_JSON = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/

/**
 * Returns the text unchanged. UTF-8 cannot encode a lone surrogate: it would be sent as U+FFFD, which may be
 * part of another object's name.
 *
 * @throws bad_request if the text contains a lone surrogate
 */
export function wholeText(text: string, what: string): string {
  if (text.isWellFormed()) return text
  throw half(what)
}

/**
 * Returns JSON text unchanged. JSON escapes a lone surrogate.
 *
 * @throws bad_request if the text contains a lone surrogate
 */
export function wholeJson(json: string): string {
  if (HALF_IN_JSON.test(json)) throw half('A text')
  return json
}

const half = (what: string) =>
  new ConnectorError('bad_request', `${what} holds half of a character (a lone surrogate)`)
