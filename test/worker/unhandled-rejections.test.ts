/** Rejections that a connector leaves unhandled (strays) are reported and do not change any answer. */
import ivm from 'isolated-vm'
import { describe, expect, test } from 'vitest'
import { readBox } from '../../runtime/worker/box.ts'
import { createGuestIsolate, type GuestSource } from '../../runtime/worker/guest-isolate.ts'
import { createSlices } from '../../runtime/worker/slices.ts'
import { strayLine } from '../../runtime/worker/unhandled-rejections.ts'
import { writersSource } from '../../runtime/worker/writers.ts'
import { bundlePrelude } from './guest/isolate.ts'

type Stray = { call: number | null; message: string }

const source = (code: string, name: string): GuestSource => ({ code, name, cached: null })
const CALL = { request: {}, settings: {}, auth: null, credentials: null, page: {} }

/**
 * A connector in an isolate, on threads or in slices of this one. Its fetches are answered with 200, and its
 * timers fire at once.
 */
async function guestIn(isThreaded: boolean, handlers: string, top = '') {
  const strays: Stray[] = []
  const waiting = new Map<number, PromiseWithResolvers<string[]>>()
  const post = (op: string, id: number, headJson: string): void => {
    if (op === 'fetch') guest.deliver(id, REPLY, '', JSON.parse(headJson).call)
    if (op === 'timer') guest.deliver(id, '{}', '', null)
  }
  const prelude = `${await bundlePrelude()}\n${writersSource()}`
  const code = `'use strict';globalThis.__connector=(()=>{${top};return{default:${handlers}}})()`
  const share = createSlices().share()
  const guest = await createGuestIsolate({
    ivm,
    prelude: source(prelude, 'p.js'),
    connector: source(code, 'c.js'),
    memoryMb: 64,
    share,
    hooks: {
      post,
      onCatastrophe: () => {},
      onMade: () => {},
      onBox: (box) =>
        readBox(box, (op, id, one, two, three) => {
          if (op === 'answer') waiting.get(id)?.resolve([one, two, three])
          // Like the worker: not from within the entry that posted.
          else setImmediate(post, op, id, one)
        }),
      onBroken: (error) => {
        for (const { reject } of waiting.values()) reject(error)
      },
      onHeavy: () => {},
      isThreaded: () => isThreaded,
      onStray: (reason, call) => strays.push({ call, message: strayLine(reason).message }),
    },
  })
  let last = 0
  const call = async (capability = 'a', id = ++last) => {
    const answer = Promise.withResolvers<string[]>()
    waiting.set(id, answer)
    guest.run(id, capability, JSON.stringify(CALL))
    const parts = await answer.promise
    return [JSON.parse(parts[0] as string).ok, parts[1]]
  }
  return { guest, strays, call }
}
const REPLY = JSON.stringify({
  ok: true,
  status: 200,
  url: 'https://a.example/',
  redirected: false,
  headers: [],
  encoding: 'utf8',
})

const FETCH = `await ctx.fetch('https://a.example/')`
const STRAY = `void Promise.reject(new TypeError('astray'))`

describe.each([
  ['on threads', true],
  ['in slices of the main thread', false],
])('%s', (_where, isThreaded) => {
  const guestOf = (handlers: string, top = '') => guestIn(isThreaded, handlers, top)

  test.each([
    ['before the answer of a plain handler', `() => { ${STRAY}; return 'fine' }`],
    ['before the answer of an async handler', `async () => { ${STRAY}; return 'fine' }`],
    [
      'in a microtask of the turn',
      `async () => { await null; ${STRAY}; await null; return 'fine' }`,
    ],
    [
      'in the turn, after the answer is made',
      `async () => { Promise.resolve().then(() => {}).then(() => {}).then(() => {}).then(() => {}).then(() => {}).then(() => {}).then(() => { ${STRAY} }); return 'fine' }`,
    ],
    ['before a request', `async (_, ctx) => { ${STRAY}; ${FETCH}; return 'fine' }`],
    ['in a later turn', `async (_, ctx) => { ${FETCH}; ${STRAY}; return 'fine' }`],
    [
      'in a later turn, after the answer is made',
      `async (_, ctx) => { ${FETCH}; setTimeout(() => {}, 0); Promise.resolve().then(() => {}).then(() => {}).then(() => {}).then(() => {}).then(() => { ${STRAY} }); return 'fine' }`,
    ],
    [
      'of an async function that is not awaited',
      `(_, ctx) => { (async () => { ${FETCH}; throw new TypeError('astray') })(); return ctx.fetch('https://a.example/').then(() => 'fine') }`,
    ],
  ])(
    'a stray %s is reported with its call and does not change the answer',
    async (_when, handler) => {
      const { call, strays } = await guestOf(`{ a: ${handler} }`)
      for (const id of [1, 2, 3]) {
        expect(await call('a', id)).toEqual([true, '"fine"'])
        const message = 'a promise was rejected and nothing handled it: TypeError: astray'
        expect(strays.splice(0)).toEqual([{ call: id, message }])
      }
    },
  )

  test('a stray in a timer is reported', async () => {
    const { call, strays } = await guestOf(
      `{ a: () => new Promise((done) => setTimeout(() => { ${STRAY}; done('fine') }, 1)) }`,
    )
    expect(await call()).toEqual([true, '"fine"'])
    expect(strays).toMatchObject([{ call: null }])
  })

  test('a stray does not change a failure of the handler', async () => {
    const { call, strays } = await guestOf(`{ a: () => { ${STRAY}; throw new Error('own') } }`)
    expect(await call()).toEqual([false, ''])
    expect(strays).toHaveLength(1)
  })

  test('thousands of strays in one turn are reported as one line', async () => {
    const { call, strays } = await guestOf(
      `{ a: () => { for (let i = 0; i < 5000; i += 1) ${STRAY}; return 'fine' } }`,
    )
    expect(await call()).toEqual([true, '"fine"'])
    expect(strays).toHaveLength(1)
  })

  test.each([
    ['a getter that throws', `{ get message() { throw 1 } }`],
    ['a Proxy that throws', `new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 1 } })`],
    [
      'an error whose message throws',
      `Object.defineProperty(new Error('x'), 'message', { get() { throw 1 } })`,
    ],
    ['nothing', `undefined`],
    ['a symbol', `Symbol('x')`],
    ['a bigint', `1n`],
    [
      'an object whose text throws',
      `{ message: { toString() { throw 1 } }, stack: { toString() { throw 1 } } }`,
    ],
  ])('%s as a reason is reported like any other', async (_what, reason) => {
    const { call, strays } = await guestOf(
      `{ a: () => { void Promise.reject(${reason}); return 'fine' },
       b: async (_, ctx) => { ${FETCH}; void Promise.reject(${reason}); return 'fine' } }`,
    )
    expect(await call('a')).toEqual([true, '"fine"'])
    expect(await call('b')).toEqual([true, '"fine"'])
    expect(strays).toMatchObject([{ call: 1 }, { call: 2 }])
  })

  test('a reason that rejects another promise when it is read fails no later call', async () => {
    const { call, guest, strays } = await guestOf(
      `{ a: async (_, ctx) => { ${FETCH}; void Promise.reject({ get message() { ${STRAY}; return 'first' } }); return 'fine' },
       b: () => 'fine' }`,
    )
    expect(await call('a')).toEqual([true, '"fine"'])
    await guest.ping()
    expect(await call('b')).toEqual([true, '"fine"'])
    expect(strays.map(({ message }) => message.replace(/.*handled it: /, ''))).toEqual([
      'Error: first',
      'TypeError: astray',
    ])
  })

  test('huge reasons are truncated, and reasons of later turns are not read', async () => {
    const { call, strays } = await guestOf(
      `{ a: async (_, ctx) => { for (let i = 0; i < 40; i += 1) { ${FETCH}; void Promise.reject('x'.repeat(4 << 20)) } return 'fine' } }`,
    )
    expect(await call()).toEqual([true, '"fine"'])
    // Strays that were under way when the first was seen may still be reported.
    expect(strays.length).toBeLessThanOrEqual(4)
    expect(strays[0]?.message.length).toBeLessThan(2200)
    expect(strays[0]?.message).toContain('has 4194304 characters, so rejections of later turns')
  })

  test('a stray at the top level is reported, and the connector answers', async () => {
    const { call, guest, strays } = await guestOf(`{ a: () => 'fine' }`, STRAY)
    expect(guest.capabilities).toEqual(['a'])
    expect(strays).toMatchObject([{ call: null, message: expect.stringContaining('astray') }])
    expect(await call()).toEqual([true, '"fine"'])
  })

  test('an error thrown by top-level code is not a stray', async () => {
    await expect(guestOf(`{}`, `${STRAY}; throw new RangeError('top')`)).rejects.toThrow('top')
  })

  test('concurrent calls keep their answers, whatever strays other calls leave', async () => {
    const { call, strays } = await guestOf(`{
    a: () => { ${STRAY}; return 'a' },
    b: async (_, ctx) => { for (let i = 0; i < 20; i += 1) { ${FETCH}; ${STRAY} } return 'b' },
    c: async (_, ctx) => { for (let i = 0; i < 20; i += 1) ${FETCH}; return 'c' } }`)
    const names = Array.from({ length: 60 }, (_, index) => 'abc'[index % 3] as string)
    const answers = await Promise.all(names.map((name) => call(name)))
    expect(answers).toEqual(names.map((name) => [true, `"${name}"`]))
    const told = (name: string) =>
      strays.filter(({ call: id }) => id !== null && names[id - 1] === name).length
    // isolated-vm holds the promise weakly: a promise collected before its turn ends is not reported.
    const [a, b, c] = [told('a'), told('b'), told('c')]
    expect([a > 10, b > 380, c]).toEqual([true, true, 0])
  })
})

test('large answers still arrive after a stray and are released', async () => {
  // Each answer has 8 MiB and the isolate 64 MiB: they would fill it if they were not released.
  const { call } = await guestIn(
    true,
    `{ a: () => { ${STRAY}; return 'x'.repeat(8 << 20) },
  b: () => 'x'.repeat(8 << 20) }`,
  )
  for (let count = 0; count < 12; count += 1) {
    const [ok, text] = await call(count % 2 === 0 ? 'a' : 'b')
    expect([ok, String(text).length]).toEqual([true, (8 << 20) + 2])
  }
})
