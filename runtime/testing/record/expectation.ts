/** What a case expects, read from what was answered. */

import type { Step } from '../../contract/connector/cases.ts'
import { holdsPlaceholder } from '../../contract/connector/placeholder.ts'
import { isOneOf } from '../../contract/schema/one-of.ts'
import { membersOf } from '../../contract/schema/record.ts'
import { differences } from '../differences.ts'
import { type AnswerBody, withoutNulls } from '../run-case.ts'
import { NotRecordable } from './played.ts'

/** Codes that say that the connector itself is wrong: nothing to hold on to. */
export const BROKEN: readonly string[] = [
  'unexpected_error',
  'invalid_response',
  'request_timeout',
  'client_call_error',
  'internal_error',
]

/**
 * The expectation of one call.
 *
 * @param again The answer to the same a second time.
 * @param wasOk Whether it was an answer, and no error, in earnest.
 * @throws NotRecordable where there is none that would hold
 */
export function expectationOf(
  body: AnswerBody,
  again: AnswerBody | undefined,
  wasOk: boolean,
): Omit<Step, 'upstream'> {
  const error = membersOf(body['error'])
  if (body['is_error'] === true && isOneOf(BROKEN, error['error_code']))
    throw new NotRecordable(`the connector is wrong, ${error['error_code']}: ${error['message']}`)
  if (wasOk !== (body['is_error'] !== true))
    throw new NotRecordable(
      wasOk
        ? `played again it ends in ${error['error_code']}: ${error['message']}; write this case by hand`
        : 'played again it does not fail; write this case by hand',
    )
  if (holdsPlaceholder(JSON.stringify(body)))
    throw new NotRecordable(
      'its answer holds a secret that the system has repeated: leave that out of what the connector answers',
    )
  const [other] = differences('the answer', told(body), again && told(again))
  if (other !== undefined)
    throw new NotRecordable(`its answer changes each time: ${other}; write this case by hand`)
  return told(body)
}

/** The members of an answer that a case tells. */
function told(body: AnswerBody): Omit<Step, 'upstream'> {
  if (body['is_error'] === true) {
    const { error_code, status_code, app_error_code } = membersOf(body['error'])
    // The cast: the envelope's error has these members.
    return { error: withoutNulls({ error_code, status_code, app_error_code }) as Step['error'] }
  }
  return {
    response: withoutNulls(body['response']),
    ...(body['page'] === null ? {} : { more: true }),
    ...(body['raw_data'] == null ? {} : { raw_data: body['raw_data'] }),
  }
}
