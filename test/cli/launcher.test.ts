import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchLauncher } from '../../runtime/cli/launcher.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const npm = { npm_lifecycle_event: 'start' }

test('what npm started hears once that the shell between is gone', () => {
  let parent = 10
  const gone = vi.fn()
  watchLauncher(gone, npm, () => parent)
  vi.advanceTimersByTime(5000)
  expect(gone).not.toHaveBeenCalled()
  parent = 1
  vi.advanceTimersByTime(5000)
  expect(gone).toHaveBeenCalledOnce()
})

test('what a person sent into the background outlives its shell', () => {
  let parent = 10
  const gone = vi.fn()
  watchLauncher(gone, {}, () => parent)
  parent = 1
  vi.advanceTimersByTime(5000)
  expect(gone).not.toHaveBeenCalled()
})

test('nobody is told after the end', () => {
  let parent = 10
  const gone = vi.fn()
  watchLauncher(gone, npm, () => parent)()
  parent = 1
  vi.advanceTimersByTime(5000)
  expect(gone).not.toHaveBeenCalled()
})
