import { expect, test } from 'vitest'
import { ConnectorError, hasCode } from '../../runtime/sdk/sdk.ts'
import { reply } from './fake-context.ts'

test('has its values in own data properties', () => {
  const error = new ConnectorError('bad_request', 'No', { app_error_code: 'E1', status_code: 400 })
  const own = Object.getOwnPropertyDescriptors(error)
  const values = Object.fromEntries(
    Object.entries(own).map(([name, descriptor]) => [name, descriptor.value]),
  )
  expect(values).toMatchObject({
    name: 'ConnectorError',
    message: 'No',
    error_code: 'bad_request',
    app_error_code: 'E1',
    status_code: 400,
    raised_by: 'ConnectorError',
  })
  expect(error).toBeInstanceOf(Error)
})

test('keeps the cause', () => {
  const cause = new Error('inner')
  expect(new ConnectorError('api_error', 'No', { cause }).cause).toBe(cause)
  expect(Object.hasOwn(new ConnectorError('api_error', 'No'), 'cause')).toBe(false)
})

test.each([
  [400, 'bad_request'],
  [401, 'unauthenticated'],
  [403, 'permission_denied'],
  [404, 'not_found'],
  [409, 'api_error'],
  [429, 'rate_limit'],
  [500, 'api_error'],
  [502, 'bad_gateway'],
  [503, 'service_error'],
])('maps an upstream %i to %s', async (status, code) => {
  expect(await ConnectorError.from(reply(status, 'sorry'))).toMatchObject({
    error_code: code,
    status_code: status,
    raised_by: 'HTTPStatusError',
    message: `[${status}][https://api.example/v1/users] sorry`,
    app_error_code: null,
  })
})

test.each([
  [
    'Bearer error="invalid_token", error_description="The access token expired"',
    'authentication_expired',
  ],
  ['Bearer error="invalid_token", error_description="Token was revoked"', 'creds_revoked'],
  ['Bearer error="invalid_token"', 'unauthenticated'],
])('classifies a 401 by its challenge: %s', async (challenge, error_code) => {
  const headers = { 'www-authenticate': challenge }
  expect(await ConnectorError.from(reply(401, '', headers))).toMatchObject({ error_code })
})

test('names the time after which the upstream allows a retry', async () => {
  const { message } = await ConnectorError.from(reply(429, 'slow down', { 'retry-after': '7' }))
  expect(message).toBe('[429][https://api.example/v1/users] slow down (try again after 7)')
})

test.each([
  ['{"error":"invalid_grant"}', 'invalid_grant'],
  ['{"code":"E17","message":"x"}', 'E17'],
  ['{"status":"409","scimType":"uniqueness"}', 'uniqueness'],
  ['{"errorCode":"E0000007"}', 'E0000007'],
  ['{"error":{"code":"x"},"code":"y"}', 'y'],
  ['{"error":{"code":"Request_ResourceNotFound","message":"x"}}', 'Request_ResourceNotFound'],
  ['{"error":{"code":404,"status":"NOT_FOUND"}}', 'NOT_FOUND'],
  ['{"errors":[{"code":"taken"},{"code":"short"}]}', 'taken'],
  ['{"errors":{"code":"x"}}', null],
  ['{"errors":["x"]}', null],
  ['{"error":{"code":["x"]}}', null],
  ['{"code":17}', null],
  [`{"error":"${'long '.repeat(50)}"}`, null],
  ['["error"]', null],
  ['null', null],
  ['<html>', null],
])('takes the system’s own code from %s', async (body, code) => {
  expect((await ConnectorError.from(reply(400, body))).app_error_code).toBe(code)
})

test('prefers the code and the message of the author', async () => {
  const given = { app_error_code: 'E9', message: 'The team is full' }
  expect(await ConnectorError.from(reply(400, '{"code":"E1"}'), given)).toMatchObject({
    ...given,
    error_code: 'bad_request',
    status_code: 400,
  })
  const own = { app_error_code: 'E1', message: '[400][https://api.example/v1/users] {"code":"E1"}' }
  expect(
    await ConnectorError.from(reply(400, '{"code":"E1"}'), { app_error_code: null }),
  ).toMatchObject(own)
})

test('reports the status even when the body was read before', async () => {
  const used = { ...reply(404, ''), text: () => Promise.reject(new TypeError('Body is unusable')) }
  expect((await ConnectorError.from(used)).error_code).toBe('not_found')
})

test.each([
  [new ConnectorError('not_found', 'x'), true],
  [new ConnectorError('api_error', 'x'), false],
  [Object.assign(new Error('x'), { error_code: 'bad_request' }), true],
  [Object.create({ error_code: 'not_found' }), false],
  [new Error('not_found'), false],
  [null, false],
  ['not_found', false],
])('matches an error by its code: %s', (error, expected) => {
  expect(hasCode(error, 'not_found', 'bad_request')).toBe(expected)
})
