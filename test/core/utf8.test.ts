/** Text that is not UTF-8 is refused, so that no byte is read as a character that was not sent. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { taskComments } from '../../runtime/database/schema/tasks.ts'
import { type CoreHost, startCore, task } from './host.ts'

let core: CoreHost
let comments: string

beforeAll(async () => {
  core = await startCore()
  comments = `/tasks/${await task(core.db, {})}/comments`
})
afterAll(() => core.stop())

/** A comment's JSON with bytes in the middle of its text. */
const around = (before: string, bytes: number[], after = 'z"}') =>
  new Uint8Array(
    Buffer.concat([Buffer.from(`{"comment":"${before}`), Buffer.from(bytes), Buffer.from(after)]),
  )

describe('a body', () => {
  test.each([
    ['an invalid byte', around('ab', [0xff]), 14],
    ['an invalid byte after multi-byte characters', around('ä€😀', [0xff]), 16],
    ['an incomplete sequence', around('a', [0xe2, 0x82]), 13],
    ['an overlong sequence', around('a', [0xc0, 0xaf]), 13],
    ['a lone surrogate', around('a', [0xed, 0xa0, 0x80]), 13],
    ['an incomplete character at its end', around('a', [0xf0, 0x9f], ''), 13],
    ['UTF-16', new Uint8Array(Buffer.from('\ufeff{"comment":"a"}', 'utf16le')), 0],
  ])('with %s is refused as invalid JSON at that offset', async (_name, raw, offset) => {
    const { status, body } = await core.call('POST', comments, { raw })
    expect({ status, body }).toEqual({
      status: 422,
      body: {
        detail: [{ loc: ['body', offset], msg: 'JSON decode error', type: 'json_invalid' }],
      },
    })
    expect(await core.db.$count(taskComments)).toBe(0)
  })

  test('with half of a surrogate pair in an escape is refused with the name of the field', async () => {
    const { status, body } = await core.call('POST', comments, { raw: '{"comment":"a\\ud800"}' })
    expect(status).toBe(422)
    expect(body.detail).toMatchObject([{ loc: ['body', 'comment'], type: 'value_error' }])
  })

  test('with every kind of character is stored unchanged', async () => {
    const comment = 'aä€😀\u{10ffff}\ufffd'
    const { status, body } = await core.call('POST', comments, { body: { comment } })
    expect(status).toBe(201)
    expect(body.body).toBe(comment)
  })
})

describe('a URL', () => {
  test.each(['%ff', 'a%C3', '%ed%a0%80', '%c0%af'])(
    'with %s in its query returns a 422',
    async (text) => {
      const { status, body } = await core.call('GET', `/users?search_term=${text}`)
      expect(status).toBe(422)
      expect(body.detail).toEqual([
        {
          loc: ['query', 'search_term'],
          msg: 'Value error, text must be UTF-8',
          type: 'value_error',
        },
      ])
    },
  )

  test.each(['%C3%A4', 'ä', '100%', '%F0%9F%98%80', 'a+b', '', '%EF%BF%BD'])(
    'with "%s" in its query is accepted',
    async (text) => {
      expect((await core.call('GET', `/users?search_term=${text}`)).status).toBe(200)
    },
  )

  test('whose path is not UTF-8 is not found', async () => {
    expect((await core.call('GET', '/users/%ff')).status).toBe(404)
    expect((await core.call('GET', '/tasks/a%C3/actions')).status).toBe(404)
    const me = (await core.call('GET', '/users/current')).body.id
    expect((await core.call('POST', `/users/${me}/roles/%ff`)).status).toBe(404)
    const reply = await core.host.app.request('/connectors/%ff/list_accounts', {
      method: 'POST',
      headers: { host: 'localhost', 'content-type': 'application/json' },
      body: '{"request":{}}',
    })
    expect(reply.status).toBe(200)
    expect(await reply.json()).toMatchObject({ is_error: true, error: { error_code: 'not_found' } })
  })
})
