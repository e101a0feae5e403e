import { expect, test } from 'vitest'
import { createGuest, parseAnswer, reply } from './isolate.ts'

test('a payload is returned as JSON with an empty cursor', async () => {
  const guest = await createGuest('{ a: async (request) => ({ got: request }) }')
  const answer = await guest.run('a', { request: { x: [1] } })
  expect(answer).toEqual({
    head: { ok: true, cursor: null },
    response: { got: { x: [1] } },
    raw: null,
  })
})

test('a paged answer is split into payload and cursor', async () => {
  const guest = await createGuest(
    '{ a: () => ({ __paged: true, response: [1], cursor: { at: 2 } }) }',
  )
  const { head, response } = await guest.run('a')
  expect({ head, response }).toEqual({ head: { ok: true, cursor: { at: 2 } }, response: [1] })
})

test('an inherited __paged is not a page', async () => {
  const guest = await createGuest('{ a: () => Object.create({ __paged: true, response: 1 }) }')
  expect((await guest.run('a')).response).toEqual({})
})

test('only the last raw value is returned', async () => {
  const guest = await createGuest(
    '{ a: (_, ctx) => { ctx.raw(1); ctx.raw({ n: 2 }); return null } }',
  )
  expect(await guest.run('a')).toMatchObject({ response: null, raw: { n: 2 } })
})

test('the raw value is returned with a failure', async () => {
  const guest = await createGuest('{ a: (_, ctx) => { ctx.raw({ n: 2 }); throw new Error("x") } }')
  expect((await guest.error('a'))['raw']).toEqual({ n: 2 })
})

test.each([
  ['() => undefined', 'the handler of a returned nothing'],
  ['async () => {}', 'the handler of a returned nothing'],
  ['() => ({ __paged: true, cursor: 1 })', 'the handler of a returned nothing'],
  ['() => () => {}', 'the reply of a is not a JSON value, but a function'],
  [
    '() => { const o = {}; o.o = o; return o }',
    'the reply of a cannot be written as JSON: Converting',
  ],
  ['() => ({ n: 1n })', 'the reply of a cannot be written as JSON: Do not know'],
  [
    '() => ({ toJSON() { throw 1 } })',
    'the reply of a cannot be written as JSON: an unknown error',
  ],
  ['() => ({ __paged: true, response: [], cursor: 1n })', 'the cursor of a cannot be written'],
  ['(_, ctx) => { ctx.raw(1n); return 1 }', 'the raw value of a cannot be written'],
])('the handler %s is an invalid response', async (source, message) => {
  const guest = await createGuest(`{ a: ${source} }`)
  const error = await guest.error('a')
  expect(error['code']).toBe('invalid_response')
  expect(error['message']).toContain(message)
})

test('a reply over the limit is refused with its size', async () => {
  const guest = await createGuest('{ a: () => "x".repeat(33 * 1024 * 1024) }')
  const error = await guest.error('a')
  expect(error['code']).toBe('invalid_response')
  expect(error['message']).toBe('the reply of a has 34603014 characters: the limit is 33554432')
})

test('an unknown capability is a failure, not a crash', async () => {
  const guest = await createGuest()
  expect(await guest.error('constructor')).toMatchObject({ code: 'not_implemented' })
})

test('the context contains the data of the call', async () => {
  const guest = await createGuest(`{ a: (_, ctx) => ({
    auth: ctx.auth.token.token, other: ctx.credentials.api.basic.username, absent: typeof ctx.credentials.none,
    site: ctx.settings.site, page: ctx.page, late: ctx.now() > 1e12, basic: ctx.basic(), pair: ctx.basic('ü', 'x') }) }`)
  const call = {
    auth: { token: { token: 't' } },
    credentials: { api: { basic: { username: 'u', password: 'p' } }, k: { token: { token: 'z' } } },
    settings: { site: 's' },
    page: { cursor: 7, size: 10 },
  }
  expect((await guest.run('a', call)).response).toEqual({
    auth: 't',
    other: 'u',
    absent: 'undefined',
    site: 's',
    page: { cursor: 7, size: 10 },
    late: true,
    basic: `Basic ${Buffer.from('u:p').toString('base64')}`,
    pair: `Basic ${Buffer.from('ü:x').toString('base64')}`,
  })
})

test.each([
  [{ auth: { token: { token: 't' } } }],
  [{ credentials: { a: { basic: { username: 'u' } }, b: { basic: { username: 'v' } } } }],
])('basic() without a single basic credential names what is missing: %j', async (call) => {
  const guest = await createGuest('{ a: (_, ctx) => ctx.basic() }')
  expect(await guest.error('a', call)).toMatchObject({ code: 'integration_missing_parameter' })
})

test('concurrent calls get their own answers', async () => {
  const guest = await createGuest(
    '{ a: async (request, ctx) => (await ctx.fetch("https://a.example/" + request.n)).text() }',
  )
  const both = [guest.run('a', { request: { n: 1 } }), guest.run('a', { request: { n: 2 } })]
  const second = await guest.posted('fetch', 2)
  const first = await guest.posted('fetch', 1)
  await guest.deliver(second.id, reply(), 'two')
  await guest.deliver(first.id, reply(), 'one')
  expect((await Promise.all(both)).map((answer) => answer.response)).toEqual(['one', 'two'])
})

test('an unhandled rejection while an answer is delivered breaks no call', async () => {
  const guest = await createGuest(`{ a: async (_, ctx) => {
    const reply = await ctx.fetch('https://a.example/'); Promise.reject(new Error('floating')); return reply.status },
    b: async (_, ctx) => (await ctx.fetch('https://b.example/')).status }`)
  const both = [guest.run('a'), guest.run('b')]
  const [one, two] = [await guest.posted('fetch', 1), await guest.posted('fetch', 2)]
  await guest.deliver(one.id, reply()).catch(() => undefined)
  await guest.deliver(two.id, reply())
  expect((await Promise.all(both)).map((answer) => answer.response)).toEqual([200, 200])
})

test('a call whose start left a rejection unhandled continues', async () => {
  const guest = await createGuest(
    `{ a: async (_, ctx) => { Promise.reject(new Error('floating')); return (await ctx.fetch('https://a.example/')).status } }`,
  )
  await expect(guest.start('a', {}, 9)).rejects.toThrow('floating')
  await guest.deliver((await guest.posted('fetch')).id, reply())
  expect(parseAnswer(await guest.answer(9)).response).toBe(200)
})

test('the isolate answers a ping', async () => {
  expect(await (await createGuest()).ping()).toBe(1)
})
