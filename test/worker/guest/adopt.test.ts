import { expect, test } from 'vitest'
import { createGuest } from './isolate.ts'

test('the names of the handlers are reported in order', async () => {
  const guest = await createGuest('{ b() {}, a: async () => {} }')
  expect(guest.adopted).toEqual({ ok: true, capabilities: ['a', 'b'] })
})

test('the namespace that esbuild generates is adopted and removed from the global', async () => {
  const guest = await createGuest('undefined, get default() { return { a() {} } }')
  expect(guest.adopted).toEqual({ ok: true, capabilities: ['a'] })
  expect(await guest.value('"__connector" in globalThis')).toBe(false)
})

test('a namespace that cannot be deleted is emptied', async () => {
  const guest = await createGuest('{ a() {} }', 'var __connector')
  expect(guest.adopted.ok).toBe(true)
  expect(await guest.value('typeof globalThis.__connector')).toBe('undefined')
})

test.each([
  ['undefined', /exports nothing/],
  ['null', /not made by defineConnector/],
  ['[]', /not made by defineConnector/],
  ['new (class Foo { list_accounts() {} })()', /not made by defineConnector/],
  ['function () {}', /not made by defineConnector/],
  ['({ list_accounts: 1 })', /member list_accounts .* is not a function/],
  ['({ get list_accounts() { return () => [] } })', /member list_accounts .* is not a function/],
  [
    'undefined, get default() { throw new Proxy({}, { getPrototypeOf() { throw 1 } }) }',
    /could not be read/,
  ],
  ['new Proxy({}, { getPrototypeOf() { throw new Error("x") } })', /could not be read/],
])('the default export %s is refused with a message', async (source, message) => {
  const guest = await createGuest(source)
  expect(guest.adopted.ok).toBe(false)
  expect(guest.adopted.message).toMatch(message)
})

test('a handler replaced after loading is not the one that runs', async () => {
  const guest = await createGuest('globalThis.mine = { a: () => 1 }')
  await guest.context.eval('mine.a = () => 2')
  expect((await guest.run('a')).response).toBe(1)
})

test('neither the entries nor the host functions remain on the global', async () => {
  const guest = await createGuest()
  const left = await guest.value(
    'Reflect.ownKeys(globalThis).filter((key) => String(key).startsWith("__"))',
  )
  expect(left).toEqual([])
})
