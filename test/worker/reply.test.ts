import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { CapabilityName } from '../../runtime/contract/capabilities/capabilities.ts'
import { responseSchema } from '../../runtime/contract/connector/payload.ts'
import type { Fields } from '../../runtime/contract/connector/settings.ts'
import { MAX_REPLY_BYTES } from '../../runtime/contract/limits/reply-limits.ts'
import { MAX_CURSOR_LENGTH, WORKER_HEADS } from '../../runtime/protocol/worker-heads.ts'
import { checkReply } from '../../runtime/worker/reply.ts'

type Options = { capability?: CapabilityName; wantRaw?: boolean; fields?: Fields }

function check(
  parts: unknown,
  { capability = 'list_accounts', wantRaw = false, fields }: Options = {},
) {
  const { reply, body } = checkReply(parts, {
    schema: responseSchema(capability, fields),
    capability,
    wantRaw,
    written: fields === undefined,
  })
  // Whatever the guest answers, the reply must be well formed: otherwise the host would kill the worker.
  expect(v.is(WORKER_HEADS.reply, JSON.parse(JSON.stringify(reply)))).toBe(true)
  return { reply, body: Buffer.from(body) }
}

const ok = (cursor: unknown = null) => JSON.stringify({ ok: true, cursor })
const answer = (response: unknown, options: Options = {}) => {
  const { reply, body } = check([ok(), JSON.stringify(response), ''], options)
  return reply.ok ? JSON.parse(`${body}`) : reply
}
const refusal = (parts: unknown, options: Options = {}) => {
  const { reply, body } = check(parts, options)
  expect(body).toHaveLength(0)
  return 'refused' in reply ? [reply.refused, reply.message] : reply
}

const account = (more: object = {}) => ({ integration_specific_id: 'a', ...more })

test('a reply whose raw data is nested too deeply is refused, but only if raw data is wanted', () => {
  const raw = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const parts = (levels: number) => [ok(), JSON.stringify([account()]), raw(levels)]
  expect(check(parts(64), { wantRaw: true }).reply.ok).toBe(true)
  expect(refusal(parts(65), { wantRaw: true })).toEqual([
    'reply_invalid',
    'the raw data of list_accounts is nested too deeply',
  ])
  expect(check(parts(65)).reply.ok).toBe(true)
})

test('a reply that the host parses itself may have fewer values', () => {
  const limits = { maxBytes: 10_000, maxMarks: 200 }
  const parts = (count: number) => [ok(), JSON.stringify(Array(count).fill(account())), '']
  const judged = (count: number, fields?: Fields) =>
    checkReply(parts(count), {
      schema: responseSchema('list_accounts', fields),
      capability: 'list_accounts',
      wantRaw: false,
      written: false,
      limits,
    }).reply
  expect(judged(3).ok).toBe(true)
  expect(judged(50)).toEqual({
    ok: false,
    refused: 'reply_too_large',
    message: expect.stringMatching(/list_accounts is too large: .*smaller pages.*ctx\.page\.size/),
  })
})

describe('an answer', () => {
  test('has every member, null where the connector left it out', () => {
    expect(answer([account({ email: 'a@b' })])).toEqual([
      {
        integration_specific_id: 'a',
        email: 'a@b',
        given_name: null,
        family_name: null,
        username: null,
        user_status: null,
        extra_data: null,
        custom_attributes: null,
        account_type: null,
      },
    ])
  })

  test('of list_accounts contains active and suspended accounts and those without a status', () => {
    const statuses = [
      'ACTIVE',
      'INACTIVE',
      'SUSPENDED',
      'DEPROVISIONED',
      'PENDING',
      'DELETED',
      null,
    ]
    const accounts = statuses.map((user_status) => account({ user_status }))
    const left = answer(accounts) as { user_status: string | null }[]
    expect(left.map(({ user_status }) => user_status)).toEqual(['ACTIVE', 'SUSPENDED', null])
  })

  test('of list_accounts reports how many accounts were left out', () => {
    const reply = (...statuses: (string | null)[]) =>
      check([ok(), JSON.stringify(statuses.map((user_status) => account({ user_status }))), ''])
        .reply
    expect(reply('ACTIVE', 'INACTIVE', 'PENDING')).toMatchObject({ ok: true, leftOut: 2 })
    expect(reply('ACTIVE', null)).not.toHaveProperty('leftOut')
  })

  test('of get_account may have any status', () => {
    expect(
      answer(account({ user_status: 'DELETED' }), { capability: 'get_account' }),
    ).toMatchObject({
      user_status: 'DELETED',
    })
  })

  test('contains the connector’s own fields where they are declared', () => {
    const options: Options = { capability: 'create_account', fields: { desk: { type: 'string' } } }
    expect(answer({ status: 'ACTIVE', created: true, desk: '4' }, options)).toMatchObject({
      desk: '4',
      id: null,
    })
  })

  test.each([null, 'x', 0, { a: [1] }, ['"]}']])('carries the cursor %j', (cursor) => {
    expect(check([ok(cursor), '[]', '']).reply).toEqual({
      ok: true,
      cursorJson: JSON.stringify(cursor),
      responseBytes: 2,
    })
  })

  test('without a cursor is the last page', () => {
    expect(check(['{"ok":true}', '[]', '']).reply).toMatchObject({ cursorJson: 'null' })
  })

  test.each([
    [true, '{"a":"é"}', '{"a":"é"}'],
    [true, 'null', 'null'],
    [true, '', ''],
    [true, '{broken', ''],
    [false, '{"a":1}', ''],
  ])('carries raw data only when it is wanted: %j %s', (wantRaw, raw, left) => {
    const { reply, body } = check([ok(), '[]', raw], { wantRaw })
    const { responseBytes } = reply as { responseBytes: number }
    expect(`${body.subarray(responseBytes)}`).toBe(left)
  })

  test('is counted in bytes, not in characters', () => {
    const { reply, body } = check([ok(), JSON.stringify([account({ email: 'é€😀' })]), '7'], {
      wantRaw: true,
    })
    const { responseBytes } = reply as { responseBytes: number }
    expect(body.length - responseBytes).toBe(1)
    expect(JSON.parse(`${body.subarray(0, responseBytes)}`)[0].email).toBe('é€😀')
  })
})

test('many unknown members are reported in a short message', () => {
  const strange = Object.fromEntries(
    Array.from({ length: 2000 }, (_, n) => [`user_stat${'u'.repeat(n)}`, 1]),
  )
  const [, message] = refusal([
    ok(),
    JSON.stringify([{ ...account(), ...strange }]),
    '',
  ]) as string[]
  expect(message).toContain('did you mean user_status?')
  expect(message?.length).toBeLessThan(4000)
})

describe('is refused:', () => {
  const broken: [string, unknown, string][] = [
    ['a value that is not a list', { ...account() }, 'response: write an array (found Object)'],
    ['null', null, 'response: '],
    ['a missing member', [{}], 'response[0].integration_specific_id: missing'],
    ['an unknown member', [account({ phone: 1 })], 'response[0].phone: there is no such field'],
    [
      'a misspelled member',
      [{ ...account(), user_staus: 'ACTIVE' }],
      'user_staus: there is no such field; did you mean user_status?',
    ],
    ['a wrong type', [account({ email: 1 })], 'response[0].email: '],
    ['an unknown status', [account({ user_status: 'active' })], 'response[0].user_status: '],
    [
      'attributes that are not text',
      [account({ custom_attributes: { a: 1 } })],
      'custom_attributes',
    ],
    ['extra data that is a list', [account({ extra_data: [] })], 'response[0].extra_data: '],
  ]
  test.each(broken)('%s', (_name, response, words) => {
    const [code, message] = refusal([ok(), JSON.stringify(response), '']) as [string, string]
    expect(code).toBe('reply_invalid')
    expect(message).toContain('the reply of list_accounts breaks the contract: ')
    expect(message).toContain(words)
  })

  test.each([
    '[{"integration_specific_id":"a","extra_data":{"__proto__":{"x":1}}}]',
    '[{"integration_specific_id":"a","extra_data":{"a":[{"__proto__":1}]}}]',
    '[{"integration_specific_id":"a","custom_attributes":{"__proto__":"x"}}]',
    '[{"integration_specific_id":"a","__proto__":{"x":1}}]',
  ])('a member named __proto__: %s', (json) => {
    const { reply, body } = check([ok(), json, ''])
    // It is refused, or dropped where valibot does not see it.
    expect(`${body}`).not.toContain('__proto__')
    expect(reply.ok === false || !`${body}`.includes('"x"')).toBe(true)
  })

  test.each([
    ['a text in place of the parts', 'text'],
    ['undefined', undefined],
    ['a number among the parts', [ok(), '[]', 5]],
    ['an empty array', []],
    ['parts that are too many', [ok(), '[]', '', '']],
    ['a head that is not JSON', ['{', '[]', '']],
    ['a head that is null', ['null', '[]', '']],
    ['a head that is a list', ['[]', '[]', '']],
    ['parts that are too few', [ok()]],
  ])('%s', (_name, parts) => {
    expect(refusal(parts)).toEqual(['reply_invalid', 'the sandbox gave no proper reply'])
  })

  test.each(['', '{', 'undefined', '[1,]'])('a response that is not JSON: %j', (json) => {
    expect(refusal([ok(), json, ''])).toEqual([
      'reply_invalid',
      expect.stringContaining('response'),
    ])
  })

  test('a cursor that is too long', () => {
    expect(refusal([ok('x'.repeat(MAX_CURSOR_LENGTH)), '[]', ''])).toEqual([
      'cursor_too_large',
      'the cursor of list_accounts is longer than 8192 characters',
    ])
    expect(check([ok('x'.repeat(MAX_CURSOR_LENGTH - 2)), '[]', '']).reply.ok).toBe(true)
  })

  test('a reply that is too large in characters', () => {
    const big = `[${' '.repeat(MAX_REPLY_BYTES)}]`
    expect(refusal([ok(), big, ''])).toMatchObject(['reply_too_large', expect.any(String)])
    expect(refusal([ok(), '[]', big], { wantRaw: true })).toMatchObject([
      'reply_too_large',
      expect.any(String),
    ])
  })

  test('a reply that is too large in bytes', () => {
    const email = '€'.repeat(MAX_REPLY_BYTES / 3)
    expect(refusal([ok(), JSON.stringify([account({ email })]), ''])).toMatchObject([
      'reply_too_large',
      expect.any(String),
    ])
  })

  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  test.each([
    ['extra data', [ok(), `[{"integration_specific_id":"a","extra_data":${deep(200_000)}}]`, '']],
    ['a cursor', [`{"ok":true,"cursor":${deep(200_000)}}`, '[]', '']],
    ['a whole reply', [ok(), deep(200_000), '']],
  ])('%s nested without end', (_name, parts) => {
    expect(refusal(parts)).toMatchObject([
      expect.stringMatching(/^(reply_invalid|cursor_too_large)$/),
      expect.any(String),
    ])
  })

  test('a long text in place of a picklist value, without repeating it', () => {
    const response = [account({ account_type: 'x'.repeat(1_000_000) })]
    const [, message] = refusal([ok(), JSON.stringify(response), '']) as [string, string]
    expect(message.length).toBeLessThan(1000)
  })

  test('a token of the wrong form, without repeating it', () => {
    const response = { access_token: 44556677, token_type: 'bearer', refresh_token: 88990011 }
    const [, message] = refusal([ok(), JSON.stringify(response), ''], {
      capability: 'refresh_access_token',
    }) as [string, string]
    expect(message).toContain('response.access_token: ')
    expect(message).not.toMatch(/44556677|88990011/)
  })

  test('a large reply that is entirely wrong, with only its first finding', () => {
    const response = Array.from({ length: 300_000 }, () => 1)
    const [, message] = refusal([ok(), JSON.stringify(response), '']) as [string, string]
    expect(message).not.toContain('response[1]')
  })
})

describe('a failure', () => {
  const failed = (head: object) => check([JSON.stringify({ ok: false, ...head }), '', '']).reply

  test('keeps the members of the connector’s error', () => {
    const error = {
      code: 'not_found',
      message: 'gone',
      app_error_code: 'E1',
      status_code: 404,
      raised_by: 'HTTPStatusError',
    }
    expect(failed({ error })).toEqual({ ok: false, error: { ...error, at: [] } })
  })

  const none = {
    code: 'unexpected_error',
    message: 'the connector failed without a message',
    app_error_code: null,
    status_code: null,
    raised_by: null,
    at: [],
  }
  test.each([
    [{}],
    [{ error: null }],
    [{ error: 'text' }],
    [{ error: [] }],
    [{ error: { code: 5, message: {}, app_error_code: [], status_code: '404', raised_by: 1 } }],
    [{ error: { status_code: 1.5 } }],
    [{ error: { status_code: 1e300 } }],
    [{ fetch: -1 }],
    [{ fetch: 1.5 }],
    [{ fetch: 1e300 }],
    [{ fetch: '1' }],
  ])('without valid members gets default ones: %j', (head) => {
    expect(failed(head)).toEqual({ ok: false, error: none })
  })

  test('of a fetch names the request', () => {
    expect(failed({ fetch: 7 })).toEqual({ ok: false, fetch: 7 })
  })

  test('is truncated', () => {
    const text = 'x'.repeat(100_000)
    const { error } = failed({
      error: { code: text, message: text, app_error_code: text, raised_by: text },
    }) as unknown as { error: Record<string, string> }
    for (const name of ['code', 'message', 'app_error_code', 'raised_by'])
      expect(error[name]).toHaveLength(4000)
  })

  test.each(['{"ok":1}', '{"ok":"true"}', '{}', '{"ok":null}'])(
    'is any head whose ok is not true: %s',
    (head) => {
      expect(check([head, '[]', '']).reply.ok).toBe(false)
    },
  )
})
