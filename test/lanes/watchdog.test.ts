import { afterEach, expect, test, vi } from 'vitest'
import { createWatchdog, type Watchdog } from '../../runtime/lanes/watchdog.ts'
import { eventually } from '../kit/eventually.ts'

let watchdog: Watchdog
afterEach(() => watchdog.stop())

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function open(starved = false) {
  const steps = {
    ping: vi.fn(),
    silent: vi.fn(),
    kill: vi.fn(),
    watchStarvation: vi.fn(() => () => starved),
  }
  watchdog = createWatchdog(steps, 40)
  return steps
}

test('an isolate that answers is left alone', async () => {
  const { ping, silent } = open()
  watchdog.watch(1, 20)
  watchdog.answered(1)
  await pause(60)
  expect([ping.mock.calls, silent.mock.calls]).toEqual([[[1]], []])
})

test('an isolate that does not answer is reported as silent', async () => {
  const { silent } = open()
  watchdog.watch(1, 20)
  await eventually(() => expect(silent).toHaveBeenCalledExactlyOnceWith(1))
})

test('of several watches of an isolate, the shortest timeout counts', async () => {
  const { ping, silent } = open()
  watchdog.watch(1, 60_000)
  watchdog.watch(1, 20)
  watchdog.watch(1, 60_000)
  await eventually(() => expect(silent).toHaveBeenCalledExactlyOnceWith(1))
  expect(ping).toHaveBeenCalledTimes(1)
})

test('a worker that does not confirm a disposal is killed, even if a watch runs as well', async () => {
  const { kill, silent } = open()
  watchdog.watch(1, 20)
  watchdog.disposing(1)
  await eventually(() => expect(kill).toHaveBeenCalledExactlyOnceWith(false))
  expect(silent).not.toHaveBeenCalled()
})

test('an answer to a ping does not confirm a disposal', async () => {
  const { kill } = open()
  watchdog.disposing(1)
  watchdog.answered(1)
  await eventually(() => expect(kill).toHaveBeenCalledExactlyOnceWith(false))
})

test('a confirmed disposal ends the watch', async () => {
  const { kill, silent } = open()
  watchdog.watch(1, 20)
  watchdog.disposing(1)
  watchdog.gone(1)
  await pause(80)
  expect([kill.mock.calls, silent.mock.calls]).toEqual([[], []])
})

test('a starved worker gets more time, and is killed in the end', async () => {
  const { kill, watchStarvation } = open(true)
  watchdog.disposing(1)
  await eventually(() => expect(kill).toHaveBeenCalledExactlyOnceWith(true))
  expect(watchStarvation).toHaveBeenCalledTimes(5)
})

test('a starved worker that confirms late is left alone', async () => {
  const { kill } = open(true)
  watchdog.disposing(1)
  await pause(60)
  watchdog.gone(1)
  await pause(100)
  expect(kill).not.toHaveBeenCalled()
})
