import { expect, test } from 'vitest'
import { createGuest, reply } from './isolate.ts'

const SDK = `class ConnectorError extends Error {
  constructor(code, message, details = {}) {
    super(message); this.name = 'ConnectorError'; this.error_code = code
    this.app_error_code = details.app_error_code ?? null; this.status_code = details.status_code ?? null
    this.raised_by = details.raised_by ?? 'ConnectorError' } }`

const NOTHING = { app_error_code: null, status_code: null }

test('a ConnectorError keeps its code and details', async () => {
  const guest = await createGuest(
    `{ a: async () => { throw new ConnectorError('not_found', 'gone', { app_error_code: 'E7', status_code: 404, raised_by: 'HTTPStatusError' }) } }`,
    SDK,
  )
  expect(await guest.error('a')).toEqual({
    code: 'not_found',
    message: 'gone',
    app_error_code: 'E7',
    status_code: 404,
    raised_by: 'HTTPStatusError',
    stack: '',
  })
})

test.each([
  ['throw new TypeError("bad")', 'bad', 'TypeError'],
  ['class FooError extends RangeError {}; throw new FooError("f")', 'f', 'FooError'],
  ['null.x', "Cannot read properties of null (reading 'x')", 'TypeError'],
  ['throw Object.assign(new Error("n"), { name: "Named" })', 'n', 'Named'],
  ['throw Object.setPrototypeOf(new Error("p"), null)', 'p', 'Error'],
  ['throw new DOMException("d", "AbortError")', 'd', 'AbortError'],
  ['throw "text"', 'the handler of a threw a string: text', null],
  ['throw undefined', 'the handler of a threw undefined', null],
  ['throw null', 'the handler of a threw null', null],
  ['throw Symbol("s")', 'the handler of a threw a symbol', null],
  ['throw 7n', 'the handler of a threw a bigint: 7', null],
  ['throw { message: "m" }', 'the handler of a threw an object that is not an Error', null],
  ['throw () => 1', 'the handler of a threw a function that is not an Error', null],
])('%s is an unexpected error', async (code, message, raised_by) => {
  const guest = await createGuest(`{ a: () => { ${code} } }`)
  const error = await guest.error('a')
  expect(error).toMatchObject({ code: 'unexpected_error', message, ...NOTHING, raised_by })
})

test('a rejection is reported like a throw', async () => {
  const guest = await createGuest('{ a: async () => { throw new TypeError("bad") } }')
  expect(await guest.error('a')).toMatchObject({ message: 'bad', raised_by: 'TypeError' })
})

// Except `name`, which the engine reads when it writes the stack. The host ends a loop there.
test('getters of a thrown error are not called', async () => {
  const guest = await createGuest(`{ a: () => {
    const error = new Error('x')
    for (const key of ['message', 'error_code', 'stack', 'constructor'])
      Object.defineProperty(error, key, { get() { globalThis.called = key; for (;;) ; } })
    throw error }, b: () => globalThis.called ?? 'none' }`)
  expect(await guest.error('a')).toMatchObject({ code: 'unexpected_error', message: '' })
  expect((await guest.run('b')).response).toBe('none')
})

test('a Proxy whose traps throw is still reported as unexpected_error', async () => {
  const guest = await createGuest(`{ a: () => { throw new Proxy(new Error('x'), {
    get() { throw 1 }, getOwnPropertyDescriptor() { throw 2 }, getPrototypeOf() { throw 3 } }) } }`)
  expect(await guest.error('a')).toMatchObject({ code: 'unexpected_error' })
})

test('long texts of an error are truncated', async () => {
  const guest = await createGuest('{ a: () => { throw new Error("x".repeat(1e6)) } }')
  expect((await guest.error('a'))['message']).toHaveLength(4000)
})

const FAILING = `{ a: async (_, ctx) => { try { return (await ctx.fetch('https://a.example/')).status } catch (error) { globalThis.last = error; throw error } },
  again: () => { throw globalThis.last },
  changed: async (_, ctx) => { try { await ctx.fetch('https://a.example/') } catch (error) { error.error_code = 'not_found'; throw error } },
  wrapped: async (_, ctx) => { try { await ctx.fetch('https://a.example/') } catch (error) { throw new Error('mine', { cause: error }) } },
  seen: async (_, ctx) => { try { await ctx.fetch('https://a.example/') } catch (error) { return { ...error, name: error.name, message: error.message } } } }`
const REFUSED = {
  ok: false,
  error: {
    code: 'permission_denied',
    message: 'not declared',
    raised_by: 'Keyway.EgressPolicy',
    status_code: null,
  },
}

test.each(['a', 'changed'])(
  'the error of a fetch thrown by %s is reported as the id of its request',
  async (name) => {
    const guest = await createGuest(FAILING)
    const answer = guest.run(name)
    const { id } = await guest.posted('fetch')
    await guest.deliver(id, REFUSED)
    expect((await answer).head).toEqual({ ok: false, fetch: id })
  },
)

test('authors see the error of a fetch as a ConnectorError', async () => {
  const guest = await createGuest(FAILING)
  const answer = guest.run('seen')
  await guest.deliver((await guest.posted('fetch')).id, REFUSED)
  expect((await answer).response).toEqual({
    name: 'ConnectorError',
    message: 'not declared',
    error_code: 'permission_denied',
    raised_by: 'Keyway.EgressPolicy',
  })
})

test('an error that wraps the error of a fetch is reported as the author’s own', async () => {
  const guest = await createGuest(FAILING)
  const answer = guest.run('wrapped')
  await guest.deliver((await guest.posted('fetch')).id, REFUSED)
  expect((await answer).head['error']).toMatchObject({ message: 'mine' })
})

test('the error of another call’s fetch is not reported as a fetch of this call', async () => {
  const guest = await createGuest(FAILING)
  const answer = guest.run('a')
  await guest.deliver((await guest.posted('fetch')).id, REFUSED)
  await answer
  expect((await guest.run('again')).head).not.toHaveProperty('fetch')
})

test('an upstream body that is not JSON is reported as invalid_response, without the query', async () => {
  const guest = await createGuest(
    '{ a: async (_, ctx) => (await ctx.fetch("https://a.example/")).json() }',
  )
  const answer = guest.run('a')
  const { id } = await guest.posted('fetch')
  await guest.deliver(
    id,
    reply(200, [['content-type', 'text/html']], 'https://a.example/u?k=1'),
    '<p>',
  )
  expect((await answer).head['error']).toMatchObject({
    code: 'invalid_response',
    message: '[200][https://a.example/u] expected JSON, but the body is text/html, 3 characters',
    status_code: 200,
  })
})

test('the frames of a thrown error are reported without its message', async () => {
  const guest = await createGuest(
    '{ a: () => { throw new Error("    at the end\\n".repeat(999)) } }',
  )
  const { stack } = await guest.error('a')
  expect(stack).toMatch(/^\n {4}at /)
  expect(String(stack).length).toBeLessThanOrEqual(4000)
})

test('a stack that is not text, or cannot be read, is left out', async () => {
  const guest = await createGuest(`{
    a: () => { Error.prepareStackTrace = () => ({}); throw new Error('a') },
    b: () => { Error.prepareStackTrace = () => { throw 1 }; throw new Error('b') } }`)
  expect(await guest.error('a')).toMatchObject({ message: 'a', stack: '' })
  expect(await guest.error('b')).toMatchObject({ message: 'b', stack: '' })
})
