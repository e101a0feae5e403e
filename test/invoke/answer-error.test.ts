import { describe, expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { answerError } from '../../runtime/invoke/answer-error.ts'
import { createRedact } from '../../runtime/redact/redact.ts'

const redact = createRedact(() => ['the-secret-token'])
const own = { code: 'not_found', message: 'no', app_error_code: null, status_code: null, at: [] }

const judge = (error: object) =>
  answerError({ ok: false, error: { ...own, raised_by: null, ...error } }, null, 'acme:x', redact)

describe('the raised_by of a connector', () => {
  test.each([
    [null, 'ConnectorError', 'connector_error'],
    ['ConnectorError', 'ConnectorError', 'connector_error'],
    ['HTTPStatusError', 'HTTPStatusError', 'connector_error'],
    ['TypeError', 'TypeError', 'connector_threw'],
    ['acme.OwnError', 'acme.OwnError', 'connector_threw'],
    ['Keyway', 'ConnectorError', 'connector_error'],
    ['Keyway.Sandbox', 'ConnectorError', 'connector_error'],
    ['KEYWAY.EgressPolicy', 'ConnectorError', 'connector_error'],
    [' Keyway', 'ConnectorError', 'connector_error'],
    ['\u200bKeyway.Sandbox', 'ConnectorError', 'connector_error'],
    ['\nKeyway', 'ConnectorError', 'connector_error'],
    ['Кeyway', 'ConnectorError', 'connector_error'],
    ['', 'ConnectorError', 'connector_error'],
    ['two words', 'ConnectorError', 'connector_error'],
  ])('%j is reported as %s, because a guest cannot pose as Keyway', (raised_by, told, code) => {
    const error = judge({ raised_by })
    expect([error.details.raisedBy, error.code]).toEqual([told, code])
  })
})

describe('the error of a connector', () => {
  test('is passed on unchanged', () => {
    const error = judge({ code: 'rate_limit', app_error_code: 'slow', status_code: 429 })
    expect(error).toMatchObject({
      message: 'no',
      details: { wire: 'rate_limit', appErrorCode: 'slow', statusCode: 429, raisedIn: 'acme:x' },
    })
  })

  test.each(['conflict', 'worker_died', '', 'constructor'])(
    'with the code %j, which is none of the 25, is reported as unexpected_error',
    (code) => {
      expect(judge({ code }).details.wire).toBe('unexpected_error')
    },
  )

  test('contains no secret', () => {
    const text = 'x the-secret-token y'
    const error = judge({ message: text, app_error_code: text, raised_by: 'the-secret-token' })
    expect(JSON.stringify([error.message, error.details])).not.toContain('the-secret-token')
  })

  test.each(['', ' \n'])('with an empty message (%j) names the type that was thrown', (message) => {
    expect(judge({ message, raised_by: 'TypeError' }).message).toBe(
      'the connector threw TypeError without a message',
    )
  })

  test('is truncated', () => {
    const text = 'x'.repeat(5000)
    const error = judge({ message: text, app_error_code: text, raised_by: text })
    expect([
      error.message.length,
      error.details.appErrorCode?.length,
      error.details.raisedBy?.length,
    ]).toEqual([2000, 200, 200])
  })
})

test('a refused reply keeps its code, without secrets', () => {
  const reply = { ok: false, refused: 'reply_invalid', message: 'a the-secret-token' } as const
  expect(answerError(reply, null, 'acme:x', redact)).toMatchObject({
    code: 'reply_invalid',
    message: 'a [secret]',
  })
})

describe('a failed request that the connector did not catch', () => {
  const reply = { ok: false, fetch: 4 } as const

  test('is reported with the host’s own record of it', () => {
    const record = new RuntimeError('egress_private', 'to the-secret-token', { statusCode: 5 })
    const error = answerError(reply, record, 'acme:x', redact)
    expect(error).toMatchObject({
      code: 'egress_private',
      message: 'to [secret]',
      details: { statusCode: 5, raisedIn: 'acme:x' },
      cause: record,
    })
  })

  test('without a record in the host counts as an error of the connector', () => {
    expect(answerError(reply, null, 'acme:x', redact)).toMatchObject({ code: 'connector_threw' })
  })
})

test('the error code of an upstream contains no secret either', () => {
  const details = { wire: 'api_error', appErrorCode: 'bad:the-secret-token' } as const
  const fetchError = new RuntimeError('upstream_said', 'no', details)
  const error = answerError({ ok: false, fetch: true } as never, fetchError, 'acme:x', redact)
  expect(error.details.appErrorCode).toBe('bad:[secret]')
})
