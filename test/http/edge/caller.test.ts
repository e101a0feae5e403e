import { expect, test, vi } from 'vitest'
import { createCaller } from '../../../runtime/http/edge/caller.ts'

test('each listener is notified once that the client has gone', () => {
  const caller = createCaller()
  const [first, second, third] = [vi.fn(), vi.fn(), vi.fn()]
  for (const listener of [first, second, second, third]) caller.addEventListener('abort', listener)
  caller.removeEventListener('abort', third)
  expect(caller.aborted).toBe(false)
  caller.hangUp()
  caller.hangUp()
  expect(caller.aborted).toBe(true)
  expect([first, second, third].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 0])
})

test('a removed listener is not notified, and a later one is', () => {
  const caller = createCaller()
  const [first, second] = [vi.fn(), vi.fn()]
  caller.addEventListener('abort', first)
  caller.removeEventListener('abort', first)
  caller.addEventListener('abort', second)
  caller.hangUp()
  expect([first, second].map(({ mock }) => mock.calls.length)).toEqual([0, 1])
})

test('its AbortSignal is aborted as well, even if it is obtained afterwards', () => {
  const caller = createCaller()
  const before = caller.abortSignal()
  caller.addEventListener('abort', vi.fn())
  expect(before.aborted).toBe(false)
  caller.hangUp()
  expect([before.aborted, caller.abortSignal().aborted]).toEqual([true, true])
})
