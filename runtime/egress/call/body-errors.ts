/**
 * Errors that an upstream reports inside an answer of success, as its manifest declares them
 * (`errors_in_body`): the fetch fails with them, so that no author forgets to look.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Manifest } from '../../contract/connector/manifest.ts'
import { upstreamMessage } from '../../contract/connector/upstream-status.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { pointedAt } from '../../contract/schema/json-pointer.ts'
import { headerValue } from '../exchange/headers.ts'
import { MAX_PARSED_BYTES } from '../limits/limits.ts'
import type { EgressReply } from './call.ts'

/** The error that a reply reports in its body, or null. A failing status speaks for itself; an error is short. */
export function errorInBody(
  { status, url, headers, body }: EgressReply,
  declared: Manifest['errors_in_body'],
): RuntimeError | null {
  if (!declared || status >= 400 || body.length === 0 || body.length > MAX_PARSED_BYTES) return null
  if (!/[/+]json\b/i.test(headerValue(headers, 'content-type') ?? '')) return null
  const text = body.toString('utf8')
  const value = parse(text)
  const { when, code, map } = declared
  if (value === undefined || !tells(when, pointedAt(value, when.json))) return null
  const told = pointedAt(value, code)
  const own = typeof told === 'string' || typeof told === 'number' ? String(told) : ''
  const wire = Object.hasOwn(map, own) ? map[own] : undefined
  return new RuntimeError('upstream_said', upstreamMessage(status, url, text), {
    wire: wire ?? 'api_error',
    statusCode: status,
    ...(own === '' ? {} : { appErrorCode: own.slice(0, 200) }),
  })
}

type When = NonNullable<Manifest['errors_in_body']>['when']

/** Whether what is found says that the answer is an error. A member that is null is there. */
const tells = (when: When, found: unknown): boolean =>
  'exists' in when ? (found !== undefined) === when.exists : isDeepStrictEqual(found, when.equals)

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not the JSON it says it is: the connector will say so.
    return undefined
  }
}
