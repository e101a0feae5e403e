import { expect, test } from 'vitest'
import { createGuest, reply } from './isolate.ts'

test('a timer passes its arguments when the host fires it', async () => {
  const guest = await createGuest(
    `{ a: () => new Promise((done) => setTimeout((...args) => done(args), 20.7, 1, 2)) }`,
  )
  const answer = guest.run('a')
  const timer = await guest.posted('timer')
  expect(timer.head).toEqual({ ms: 20 })
  await guest.deliver(timer.id)
  expect((await answer).response).toEqual([1, 2])
})

test('an interval is set again under its id until it is cleared', async () => {
  const guest = await createGuest(`{ a: () => new Promise((done) => { let n = 0
    const id = setInterval(() => { n += 1; if (n === 2) { clearInterval(id); done(n) } }, 5) }) }`)
  const answer = guest.run('a')
  const { id } = await guest.posted('timer')
  await guest.deliver(id)
  expect((await guest.posted('timer', 2)).id).toBe(id)
  await guest.deliver(id)
  expect((await answer).response).toBe(2)
  expect(await guest.all('timer')).toHaveLength(2)
})

test('a cleared timer does not fire', async () => {
  const guest = await createGuest(`{ a: async (_, ctx) => {
    clearTimeout(setTimeout(() => { globalThis.fired = true }, 5)); await ctx.fetch('https://a.example/'); return globalThis.fired ?? false } }`)
  const answer = guest.run('a')
  const { id } = await guest.posted('timer')
  expect((await guest.posted('timer_clear')).id).toBe(id)
  await guest.deliver(id)
  await guest.deliver((await guest.posted('fetch')).id, reply())
  expect((await answer).response).toBe(false)
})

test('timers are cleared when no call is left', async () => {
  const guest = await createGuest(`{ a: () => { setInterval(() => {}, 5); return 1 } }`)
  await guest.run('a')
  expect((await guest.posted('timer_clear')).id).toBe((await guest.posted('timer')).id)
})

test('timers of a call stay while another call runs', async () => {
  const guest = await createGuest(
    `{ a: () => { setTimeout(() => {}, 5); return 1 }, b: async (_, ctx) => (await ctx.fetch('https://a.example/')).status }`,
  )
  const other = guest.run('b')
  await guest.run('a')
  expect(await guest.all('timer_clear')).toEqual([])
  await guest.deliver((await guest.posted('fetch')).id, reply())
  await other
  expect(await guest.all('timer_clear')).toHaveLength(1)
})

test('an error thrown by a timer is logged and does not fail the call', async () => {
  const guest = await createGuest(
    `{ a: () => new Promise((done) => { setTimeout(() => { done(1); throw new TypeError('late') }, 1) }) }`,
  )
  const answer = guest.run('a', {}, 4)
  await guest.deliver((await guest.posted('timer')).id)
  expect((await answer).response).toBe(1)
  const line = await guest.posted('log')
  expect(line.id).toBe(4)
  expect(line.head).toMatchObject({ level: 'error', message: 'a timer threw: late' })
})

test('AbortSignal.timeout keeps a timer only while it has a listener', async () => {
  const guest = await createGuest(`{ a: async (_, ctx) => {
    const signal = AbortSignal.timeout(1000); await ctx.fetch('https://a.example/', { signal })
    await ctx.fetch('https://b.example/'); return signal.aborted } }`)
  const answer = guest.run('a')
  const timer = await guest.posted('timer')
  expect(timer.head['ms']).toBeGreaterThan(900)
  await guest.deliver((await guest.posted('fetch')).id, reply())
  const next = await guest.posted('fetch', 2)
  expect((await guest.all('timer_clear')).map((post) => post.id)).toEqual([timer.id])
  await guest.deliver(next.id, reply())
  expect((await answer).response).toBe(false)
})

test('AbortSignal.timeout rejects a fetch with a TimeoutError', async () => {
  const guest = await createGuest(
    `{ a: (_, ctx) => ctx.fetch('https://a.example/', { signal: AbortSignal.timeout(1000) }).catch((error) => [error.name, error instanceof DOMException, error.code]) }`,
  )
  const answer = guest.run('a')
  await guest.deliver((await guest.posted('timer')).id)
  expect((await answer).response).toEqual(['TimeoutError', true, 23])
})

test('AbortSignal.timeout is aborted once its time has passed, even without a timer', async () => {
  const guest = await createGuest()
  expect(await guest.value('AbortSignal.timeout(0).aborted')).toBe(true)
})

test('AbortSignal.any follows the signal that aborts first', async () => {
  const guest = await createGuest()
  const code = `(() => { const a = new AbortController(), b = new AbortController(); let heard = 0
    const any = AbortSignal.any([a.signal, b.signal]); any.onabort = () => { heard += 1 }
    b.abort('b'); a.abort('a'); return [any.aborted, any.reason, heard, AbortSignal.any([AbortSignal.abort(5)]).reason] })()`
  expect(await guest.value(code)).toEqual([true, 'b', 1, 5])
})

test('throwIfAborted throws the reason', async () => {
  const guest = await createGuest()
  expect(await guest.thrown('AbortSignal.abort().throwIfAborted()')).toBe(
    'AbortError: This operation was aborted',
  )
})

test('a listener that throws does not stop the next ones', async () => {
  const guest = await createGuest()
  const code = `(() => { const target = new EventTarget(); let heard = []
    const twice = (event) => heard.push(event.type); target.addEventListener('x', () => { throw 1 })
    target.addEventListener('x', twice); target.addEventListener('x', twice)
    target.addEventListener('x', { handleEvent: () => heard.push('object') }, { once: true })
    target.dispatchEvent(new Event('x')); target.dispatchEvent(new Event('x')); return heard })()`
  expect(await guest.value(code)).toEqual(['x', 'object', 'x'])
})
