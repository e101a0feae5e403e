import { expect, test, vi } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { createCaller } from '../../../runtime/http/edge/caller.ts'
import {
  type CallAnswer,
  createPlainCalls,
  type PlainCallsDeps,
} from '../../../runtime/http/front/plain-calls.ts'
import type { CallEnd } from '../../../runtime/invoke/ports.ts'
import { createLog } from '../../../runtime/observe/log.ts'
import { eventually } from '../../kit/eventually.ts'

const GOOD = { body: Buffer.from('{"response":[]}'), served: 'acme@1.0.0' }

function open(changes: Partial<PlainCallsDeps> = {}) {
  const calls: CallEnd[] = []
  const deps: PlainCallsDeps = {
    connectorsPath: '/connectors',
    allowedHosts: [],
    connectorToken: 'right',
    find: (id) => (id === 'acme' ? { id, version: '1.0.0' } : null),
    generation: () => 3,
    start: (_invocation, ends) => {
      ends.answer(GOOD)
      return true
    },
    invoke: () => Promise.reject(new Error('not asked')),
    onCall: (call) => void calls.push(call),
    log: createLog('silent'),
    ...changes,
  }
  const usual = createPlainCalls(deps)
  const caller = createCaller()
  const answers: CallAnswer[] = []
  const ask = (bytes: Buffer | null = Buffer.from('{}')) => {
    const correlation = new Map([['x-request-id', 'mine']])
    const head = {
      id: 'acme',
      capability: 'list_accounts',
      headBytes: 0,
      bodyBytes: 2,
      correlation,
    }
    usual.answer({ ...head, capability: 'list_accounts' }, bytes, caller, (one) => {
      answers.push(one)
    })
  }
  const answerBody = () => JSON.parse(String(answers[0]?.body))
  return { usual, ask, answers, calls, caller, answerBody }
}

test('a call by another spelling is reported under the declared id of the connector', () => {
  const fails: PlainCallsDeps['start'] = (_invocation, ends) => {
    ends.fail(new RuntimeError('request_invalid', 'no'))
    return true
  }
  const { ask, answerBody, calls } = open({
    find: () => ({ id: 'ac-me', version: '1.0.0' }),
    start: fails,
  })
  ask()
  expect(answerBody().error.app_id).toBe('ac-me')
  expect(calls).toMatchObject([{ connector: 'ac-me' }])
})

test('a call is answered with its headers, and its end is reported', () => {
  const start = vi.fn<PlainCallsDeps['start']>((_invocation, ends) => {
    ends.answer(GOOD)
    return true
  })
  const { ask, answers, calls } = open({ start })
  ask()
  expect(start.mock.calls[0]?.[0]).toMatchObject({
    connectorId: 'acme',
    capability: 'list_accounts',
    text: '{}',
    requestId: 'mine',
  })
  expect(answers).toMatchObject([
    {
      status: 200,
      headers: {
        'content-type': 'application/json',
        'x-request-id': 'mine',
        'x-keyway-connector': 'acme@1.0.0',
        'x-keyway-generation': '3',
      },
      body: GOOD.body,
    },
  ])
  expect(calls).toMatchObject([{ connector: 'acme', known: true, error: null, requestId: 'mine' }])
})

test('a call that the fast path declines takes the general path, with an AbortSignal', async () => {
  const signals: AbortSignal[] = []
  const { ask, answers, caller } = open({
    start: () => false,
    invoke: async ({ signal }) => {
      signals.push(signal)
      return GOOD
    },
  })
  ask()
  await eventually(() => expect(answers).toHaveLength(1))
  expect(signals[0]?.aborted).toBe(false)
  caller.hangUp()
  expect(signals[0]?.aborted).toBe(true)
})

test('a defect is answered as internal_error, without its message', () => {
  const { ask, answerBody, answers, calls } = open({
    start: () => {
      throw new TypeError('secret words')
    },
  })
  ask()
  expect(answerBody()).toMatchObject({ is_error: true, error: { error_code: 'internal_error' } })
  expect(JSON.stringify(answerBody())).not.toContain('secret words')
  expect(answers[0]?.status).toBe(200)
  expect(calls).toMatchObject([{ error: { code: 'internal' } }])
})

test.each([
  [null, 'caller_gone'],
  [Buffer.from([0xff]), 'body_not_json'],
  [Buffer.from('['.repeat(100_000)), 'body_too_deep'],
])('an invalid body starts no call (%#)', (bytes, code) => {
  const start = vi.fn()
  const { ask, calls } = open({ start })
  ask(bytes)
  expect(calls).toMatchObject([{ error: { code } }])
  expect(start).not.toHaveBeenCalled()
})

test('the version that failed is named for the first page, but not for a later one', () => {
  const refuse = (details: object) => () => {
    throw new RuntimeError('connector_threw', 'no', details)
  }
  const first = open({ start: refuse({}) })
  first.ask()
  expect(first.answers[0]?.headers['x-keyway-connector']).toBe('acme@1.0.0')
  const later = open({ start: refuse({ page: { token: 't', size: 1 } }) })
  later.ask()
  expect(later.answers[0]?.headers).not.toHaveProperty('x-keyway-connector')
})

test('only the right token, known hosts and known connectors are accepted', () => {
  const { usual } = open()
  expect(usual.isAllowed('Bearer right')).toBe(true)
  for (const wrong of ['', 'Bearer wrong', 'Basic right', 'Bearer right x'])
    expect(usual.isAllowed(wrong)).toBe(false)
  expect(usual.isHost('localhost:1')).toBe(true)
  expect(usual.isHost('evil.example')).toBe(false)
  expect(usual.isConnector('acme')).toBe(true)
  expect(usual.isConnector('other')).toBe(false)
  expect(open({ connectorToken: '' }).usual.isAllowed('')).toBe(true)
})
