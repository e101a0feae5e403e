import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchLauncher } from '../../runtime/cli/launcher.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const npm = { npm_lifecycle_event: 'start' }

test('a process started by npm is notified once when the shell in between is gone', () => {
  let parent = 10
  const gone = vi.fn()
  watchLauncher(gone, npm, () => parent)
  vi.advanceTimersByTime(5000)
  expect(gone).not.toHaveBeenCalled()
  parent = 1
  vi.advanceTimersByTime(5000)
  expect(gone).toHaveBeenCalledOnce()
})

test('a process not started by npm outlives its shell', () => {
  let parent = 10
  const gone = vi.fn()
  watchLauncher(gone, {}, () => parent)
  parent = 1
  vi.advanceTimersByTime(5000)
  expect(gone).not.toHaveBeenCalled()
})

test('no notification is sent after the watch has ended', () => {
  let parent = 10
  const gone = vi.fn()
  watchLauncher(gone, npm, () => parent)()
  parent = 1
  vi.advanceTimersByTime(5000)
  expect(gone).not.toHaveBeenCalled()
})
