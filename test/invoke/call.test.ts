/** Calls of the core itself: what they give back is parsed in the host, so a worker's word is not enough. */
import { expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { CORE_REPLY_LIMITS } from '../../runtime/contract/limits/reply-limits.ts'
import { createCall } from '../../runtime/invoke/call.ts'

const sent = {
  connectorId: 'acme',
  capability: 'list_accounts',
  body: { request: {} },
  requestId: 'r',
  cause: { kind: 'sync', id: 's' },
  appId: null,
  signal: new AbortController().signal,
} as const
const nothing = () => undefined
const answering = (text: string) =>
  createCall(async () => ({ body: Buffer.from(text), served: 'acme@1.0.0' }), nothing)(sent)

test('an answer comes back as values', async () => {
  expect(await answering('{"response":[{"a":1}],"raw_data":null,"page":null}')).toEqual({
    ok: true,
    response: [{ a: 1 }],
    page: null,
    raw: null,
    bytes: 50,
    callId: expect.stringMatching(/\.[0-9a-f]{8}$/),
  })
})

test('the worker is asked for no more than can be parsed here', async () => {
  const asked: unknown[] = []
  await createCall(async ({ limits }) => {
    asked.push(limits)
    return { body: Buffer.from('{}'), served: '' }
  }, nothing)(sent)
  expect(asked).toEqual([CORE_REPLY_LIMITS])
})

test.each([
  ['many values', `{"response":[${Array(200_000).fill('{}').join()}]}`],
  // It would not even be JSON: nobody tries.
  ['many bytes', ' '.repeat(CORE_REPLY_LIMITS.maxBytes + 1)],
])('%s from a worker that does not care are refused, not parsed', async (_what, text) => {
  expect(await answering(text)).toMatchObject({
    ok: false,
    reason: 'reply_too_large',
    error: { error_code: 'invalid_response', message: expect.stringContaining('smaller pages') },
  })
})

test('other errors are not about size', async () => {
  const call = createCall(() => Promise.reject(new RuntimeError('connector_threw', 'no')), nothing)
  expect(await call(sent)).toMatchObject({ ok: false, reason: 'connector_threw' })
})
