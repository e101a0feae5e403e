/**
 * Errors that an upstream reports in an answer with a successful status, as its manifest declares them
 * (`errors_in_body`). The fetch fails with them, so that authors need not check for them.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Manifest } from '../../contract/connector/manifest.ts'
import { upstreamMessage } from '../../contract/connector/upstream-status.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { pointedAt } from '../../contract/schema/json-pointer.ts'
import { parsedJson } from '../../contract/schema/json-text.ts'
import { headerValue } from '../exchange/headers.ts'
import { MAX_PARSED_BYTES } from '../limits/limits.ts'
import type { EgressReply } from './call.ts'

/**
 * Returns the error that a reply reports in its body, or null. A failing status is an error already, and
 * large bodies are not parsed: errors are short.
 */
export function errorInBody(
  { status, url, headers, body }: EgressReply,
  declared: Manifest['errors_in_body'],
): RuntimeError | null {
  if (!declared || status >= 400 || body.length === 0 || body.length > MAX_PARSED_BYTES) return null
  if (!/[/+]json\b/i.test(headerValue(headers, 'content-type') ?? '')) return null
  const text = body.toString('utf8')
  // Undefined if the content is not JSON although its type says so. The connector will notice.
  const value = parsedJson(text)
  const { when, code, map } = declared
  if (value === undefined || !isErrorValue(when, pointedAt(value, when.json))) return null
  const found = pointedAt(value, code)
  const own = typeof found === 'string' || typeof found === 'number' ? String(found) : ''
  const wire = Object.hasOwn(map, own) ? map[own] : undefined
  return new RuntimeError('upstream_said', upstreamMessage(status, url, text), {
    wire: wire ?? 'api_error',
    statusCode: status,
    ...(own === '' ? {} : { appErrorCode: own.slice(0, 200) }),
  })
}

type When = NonNullable<Manifest['errors_in_body']>['when']

/** Reports whether the found value marks the answer as an error. A null member exists. */
const isErrorValue = (when: When, found: unknown): boolean =>
  'exists' in when ? (found !== undefined) === when.exists : isDeepStrictEqual(found, when.equals)
