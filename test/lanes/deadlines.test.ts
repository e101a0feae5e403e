import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDeadlines } from '../../runtime/lanes/deadlines.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a deadline passes once, within a tick of its time, and never before', () => {
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

test('one that is shorter than a tick passes too', () => {
  const late = vi.fn()
  createDeadlines(10).set(1, late)
  vi.advanceTimersByTime(11)
  expect(late).toHaveBeenCalledOnce()
})

test('one that was cleared does not pass, also by another of the same tick', () => {
  const deadlines = createDeadlines(10)
  const late = vi.fn()
  deadlines.set(5, () => deadlines.clear(second))
  const second = deadlines.set(5, late)
  vi.advanceTimersByTime(100)
  expect(late).not.toHaveBeenCalled()
})

test('without a deadline nothing ticks, and the next one is noticed', () => {
  const deadlines = createDeadlines(10)
  deadlines.clear(deadlines.set(1000, () => {}))
  vi.advanceTimersByTime(20)
  expect(vi.getTimerCount()).toBe(0)
  const late = vi.fn()
  deadlines.set(5, late)
  vi.advanceTimersByTime(20)
  expect(late).toHaveBeenCalledOnce()
})

test('the time of day may be set without ending anything', () => {
  const deadlines = createDeadlines(10)
  const late = vi.fn()
  deadlines.set(1000, late)
  vi.setSystemTime(Date.now() + 3_600_000)
  vi.advanceTimersByTime(500)
  expect(late).not.toHaveBeenCalled()
})
