/** Derives the expectation of a case from an answer. */

import type { Step } from '../../contract/connector/cases.ts'
import { holdsPlaceholder } from '../../contract/connector/placeholder.ts'
import { isOneOf } from '../../contract/schema/one-of.ts'
import { membersOf } from '../../contract/schema/record.ts'
import { differences } from '../differences.ts'
import { type AnswerBody, withoutNulls } from '../run-case.ts'
import { NotRecordable } from './played.ts'

/** Codes of a defect in the connector itself. They do not become expectations. */
export const BROKEN: readonly string[] = [
  'unexpected_error',
  'invalid_response',
  'request_timeout',
  'client_call_error',
  'internal_error',
]

/**
 * Returns the expectation of one call.
 *
 * @param again Answer to the same call in a second replay.
 * @param wasOk Whether the recorded call ended in an answer and not in an error.
 * @throws NotRecordable if the answer cannot become an expectation
 */
export function expectationOf(
  body: AnswerBody,
  again: AnswerBody | undefined,
  wasOk: boolean,
): Omit<Step, 'upstream'> {
  const error = membersOf(body['error'])
  if (body['is_error'] === true && isOneOf(BROKEN, error['error_code']))
    throw new NotRecordable(
      `the connector has a defect, ${error['error_code']}: ${error['message']}`,
    )
  if (wasOk !== (body['is_error'] !== true))
    throw new NotRecordable(
      wasOk
        ? `the replay ends in ${error['error_code']}: ${error['message']}; write this case by hand`
        : 'the replay does not fail; write this case by hand',
    )
  if (holdsPlaceholder(JSON.stringify(body)))
    throw new NotRecordable(
      'its answer contains a secret that the system returned: remove it from the connector’s answer',
    )
  const [other] = differences('the answer', told(body), again && told(again))
  if (other !== undefined)
    throw new NotRecordable(`its answer changes each time: ${other}; write this case by hand`)
  return told(body)
}

/** Returns the members of an answer that a case contains. */
function told(body: AnswerBody): Omit<Step, 'upstream'> {
  if (body['is_error'] === true) {
    const { error_code, status_code, app_error_code } = membersOf(body['error'])
    // The cast: the error of the envelope has these members.
    return { error: withoutNulls({ error_code, status_code, app_error_code }) as Step['error'] }
  }
  return {
    response: withoutNulls(body['response']),
    ...(body['page'] === null ? {} : { more: true }),
    ...(body['raw_data'] == null ? {} : { raw_data: body['raw_data'] }),
  }
}
