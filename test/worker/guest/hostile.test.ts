import { expect, test } from 'vitest'
import { createGuest, reply } from './isolate.ts'

/** Changes that a connector may make to the built-ins at its top level. */
const POISONS: Record<string, string> = {
  'Promise.prototype.then': `Promise.prototype.then = function () { return new Promise(() => {}) }`,
  'Promise.prototype.constructor': `Object.defineProperty(Promise.prototype, 'constructor', { get() { return function () { throw new Error('mine') } } })`,
  'Promise species': `Object.defineProperty(Promise, Symbol.species, { get() { return class { constructor() { throw new Error('mine') } } } })`,
  JSON: `JSON.stringify = () => 'forged'; JSON.parse = () => ({ request: 'forged' })`,
  'Map.prototype': `for (const key of ['get', 'set', 'has', 'delete', 'forEach']) Map.prototype[key] = () => { throw new Error('mine') }; Object.defineProperty(Map.prototype, 'size', { get() { throw new Error('mine') } })`,
  'WeakMap.prototype': `for (const key of ['get', 'set', 'has']) WeakMap.prototype[key] = () => 77`,
  'Array.prototype methods': `for (const key of Reflect.ownKeys(Array.prototype)) if (typeof Array.prototype[key] === 'function' && key !== 'constructor') Array.prototype[key] = () => { throw new Error('mine') }`,
  'Array.prototype elements': `for (const key of [0, 1, 2, 3, 'then', 'toJSON']) Object.defineProperty(Array.prototype, key, { get() { return () => 'forged' }, set() {} , configurable: true })`,
  'Object.prototype members': `for (const key of ['ok', 'then', 'value', 'get', 'set', 'fetch', 'error', 'auth', '0', 'call']) Object.defineProperty(Object.prototype, key, { __proto__: null, get() { return undefined }, set() { throw new Error('mine') }, configurable: true })`,
  'Object.prototype.toJSON': `Object.prototype.toJSON = function () { return Array.isArray(this) ? ['forged'] : { forged: true } }; String.prototype.toJSON = () => 'forged'`,
  'Function.prototype': `for (const key of ['call', 'apply', 'bind']) Function.prototype[key] = () => { throw new Error('mine') }`,
  'Reflect and Object': `const homes = [Reflect, Object].map((home) => [home, Reflect.ownKeys(home)]); for (const [home, keys] of homes) for (const key of keys) if (typeof home[key] === 'function') home[key] = () => { throw new Error('mine') }`,
  'String.prototype': `for (const key of ['slice', 'indexOf', 'toString', 'valueOf']) String.prototype[key] = () => 'forged'`,
  Error: `Error.isError = () => { throw new Error('mine') }; Error.prepareStackTrace = () => { throw 1 }; Number.isInteger = () => true; Date.now = () => 'forged'`,
}
const NAMES = Object.keys(POISONS)

const SOURCE = `{ pass: (request) => request.text, 
  paged: () => ({ __paged: true, response: 'page', cursor: 5 }), fail: () => { throw new TypeError('boom') } }`

test.each(NAMES)('poisoned %s cannot change the answer of a call', async (name) => {
  const guest = await createGuest(SOURCE, POISONS[name])
  const call = { request: { text: 'true' } }
  expect(await guest.run('pass', call)).toEqual({
    head: { ok: true, cursor: null },
    response: 'true',
    raw: null,
  })
  expect((await guest.run('paged')).head).toEqual({ ok: true, cursor: 5 })
  expect((await guest.run('fail')).head).toMatchObject({
    ok: false,
    error: { code: 'unexpected_error', message: 'boom', raised_by: 'TypeError' },
  })
})

test.each(NAMES)('poisoned %s does not change the list of capabilities', async (name) => {
  const guest = await createGuest(SOURCE, POISONS[name])
  expect(guest.adopted).toEqual({ ok: true, capabilities: ['fail', 'paged', 'pass'] })
})

test('a thenable answer is awaited and cannot become the result array', async () => {
  const guest = await createGuest(`{ a: () => ({ then(done) { done(['x', 'y', 'z']) } }) }`)
  expect(await guest.run('a')).toMatchObject({ head: { ok: true }, response: ['x', 'y', 'z'] })
})

test('a thenable that settles twice answers once', async () => {
  const guest = await createGuest(
    `{ a: () => ({ then(done, fail) { done(1); fail(new Error('late')); throw new Error('later') } }) }`,
  )
  expect((await guest.run('a')).response).toBe(1)
})

test('stack frames of the prelude do not show its functions', async () => {
  const guest = await createGuest(`{ a: async (_, ctx) => {
    Error.prepareStackTrace = (_error, frames) => frames.map((frame) => typeof frame.getFunction() + typeof frame.getThis())
    let caller = 'none'
    const frames = await new Promise((done) => ctx.fetch({ toString() {
      try { caller = typeof (function f() { return f.caller })() } catch { caller = 'refused' }
      done(new Error('x').stack); return 'https://a.example/' } }))
    return { frames: [...new Set(frames)], caller } } }`)
  expect((await guest.run('a')).response).toEqual({
    frames: ['undefinedundefined'],
    caller: 'refused',
  })
})

test('a flood of timers in one turn is refused after 2048 timers', async () => {
  const guest = await createGuest(`{ a: () => {
    let count = 0
    try { for (; count < 1e6; count += 1) clearTimeout(setTimeout(() => {}, 1)) } catch (error) { return [count, error.name] }
    return 'endless' } }`)
  const { response } = await guest.run('a')
  expect(response).toEqual([2048, 'RangeError'])
  expect((await guest.all('timer')).length).toBe(2048)
})

test('a flood of bodies in one turn is refused', async () => {
  const guest = await createGuest(`{ a: async (_, ctx) => {
    const body = 'x'.repeat(15 << 20)
    const sent = Array.from({ length: 4 }, () => ctx.fetch('https://a.example/', { method: 'POST', body }))
    return sent.at(-1).catch((error) => error.message) } }`)
  expect((await guest.run('a')).response).toMatch(/too much was sent at once/)
  expect(await guest.all('fetch')).toHaveLength(2)
})

test('more open fetches than the limit are refused with a message', async () => {
  const guest = await createGuest(`{ a: async (_, ctx) => {
    const sent = Array.from({ length: 65 }, () => ctx.fetch('https://a.example/'))
    return sent[64].catch((error) => [error.error_code, error.message]) } }`)
  expect((await guest.run('a')).response).toEqual([
    'rate_limit',
    'too many open fetches in one call: the limit is 64',
  ])
  expect(await guest.all('fetch')).toHaveLength(64)
})

test('more open timers than the limit are refused', async () => {
  const guest = await createGuest(
    `{ a: () => { for (let i = 0; i < 1001; i += 1) setTimeout(() => {}, 1000) } }`,
  )
  expect((await guest.error('a'))['message']).toBe('too many timers are open: the limit is 1000')
})

test.each([
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'FinalizationRegistry',
  'WeakRef',
  'fetch',
])('there is no %s', async (name) => {
  const guest = await createGuest()
  expect(await guest.value(`typeof globalThis.${name}`)).toBe('undefined')
})

test.each([
  'new ArrayBuffer(8, { maxByteLength: 16 })',
  'new (new ArrayBuffer(8)).constructor(8, { maxByteLength: 16 })',
  'new (new Uint8Array(8).buffer.constructor)(8, { maxByteLength: 16 })',
  'Reflect.construct(ArrayBuffer, [8, { maxByteLength: 16 }])',
  'new (class extends ArrayBuffer {})(8, { maxByteLength: 16 })',
])('%s does not create a resizable buffer', async (code) => {
  const guest = await createGuest()
  expect(await guest.thrown(code)).toMatch(/TypeError: resizable ArrayBuffers/)
})

test('plain array buffers still work', async () => {
  const guest = await createGuest()
  const code = `(() => { const b = new ArrayBuffer(8); class Mine extends ArrayBuffer {}
    return [b.byteLength, b instanceof ArrayBuffer, b.slice(2).byteLength, new Uint8Array(3).buffer instanceof ArrayBuffer,
      new Mine(4).byteLength, new Mine(4) instanceof Mine, ArrayBuffer.isView(new DataView(b)), b.resizable, typeof b.resize, ArrayBuffer.name] })()`
  expect(await guest.value(code)).toEqual([
    8,
    true,
    6,
    true,
    4,
    true,
    true,
    false,
    'undefined',
    'ArrayBuffer',
  ])
})

test('an answer is delivered correctly under poisoned prototypes', async () => {
  const guest = await createGuest(
    `{ a: async (_, ctx) => (await ctx.fetch('https://a.example/')).status }`,
    POISONS['Object.prototype members'],
  )
  const answer = guest.run('a')
  const { id } = await guest.posted('fetch')
  await guest.deliver(id, reply(204))
  expect((await answer).response).toBe(204)
})

test('a poisoned Object.prototype.value is not used in place of a getter', async () => {
  const guest = await createGuest(
    `{ a: () => { throw Object.defineProperty(new Error('real'), 'error_code', { __proto__: null, get() { return 'not_found' } }) } }`,
    `Object.prototype.value = 'not_found'`,
  )
  expect(await guest.error('a')).toMatchObject({ code: 'unexpected_error', message: 'real' })
})

test('an aborted fetch rejects with its AbortError under poisoned prototypes', async () => {
  const guest = await createGuest(
    `{ a: async (_, ctx) => { await ctx.fetch('https://a.example/') } }`,
    POISONS['Object.prototype members'],
  )
  const answer = guest.run('a', {}, 1)
  await guest.posted('fetch')
  await guest.abort(1)
  expect((await answer).head['error']).toMatchObject({
    message: 'the call was aborted',
    raised_by: 'AbortError',
  })
})
