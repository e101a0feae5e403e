import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDeadlines } from '../../runtime/lanes/deadlines.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a deadline fires once, within a tick of its time, and never early', () => {
  const deadlines = createDeadlines(10)
  const late = vi.fn()
  vi.advanceTimersByTime(3)
  deadlines.set(25, late)
  vi.advanceTimersByTime(24)
  expect(late).not.toHaveBeenCalled()
  vi.advanceTimersByTime(11)
  expect(late).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(1000)
  expect(late).toHaveBeenCalledOnce()
})

test('a deadline shorter than a tick fires too', () => {
  const late = vi.fn()
  createDeadlines(10).set(1, late)
  vi.advanceTimersByTime(11)
  expect(late).toHaveBeenCalledOnce()
})

test('a cleared deadline does not fire, even when another of the same tick clears it', () => {
  const deadlines = createDeadlines(10)
  const late = vi.fn()
  deadlines.set(5, () => deadlines.clear(second))
  const second = deadlines.set(5, late)
  vi.advanceTimersByTime(100)
  expect(late).not.toHaveBeenCalled()
})

test('no timer runs while there is no deadline, and a later deadline still fires', () => {
  const deadlines = createDeadlines(10)
  deadlines.clear(deadlines.set(1000, () => {}))
  vi.advanceTimersByTime(20)
  expect(vi.getTimerCount()).toBe(0)
  const late = vi.fn()
  deadlines.set(5, late)
  vi.advanceTimersByTime(20)
  expect(late).toHaveBeenCalledOnce()
})

test('setting the system clock does not fire a deadline', () => {
  const deadlines = createDeadlines(10)
  const late = vi.fn()
  deadlines.set(1000, late)
  vi.setSystemTime(Date.now() + 3_600_000)
  vi.advanceTimersByTime(500)
  expect(late).not.toHaveBeenCalled()
})
