/** A worker that was stopped with SIGSTOP, or that hardly gets processor time. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { callOf, connectorOf, ON_THREAD, outcome, say } from './fixtures/connectors.ts'
import { isAlive, openLanes } from './fixtures/lanes.ts'

const hello = connectorOf(say("'hello'"))
const slow = connectorOf(`await new Promise((go) => setTimeout(go, 300)); ${say("'slow'")}`)
const reads = { hasWritten: () => false }

/** Lanes with one worker that has answered. */
async function open(limits = {}) {
  const { lanes, ends } = openLanes({ pollMs: 20, ...limits })
  await outcome(lanes.run('a', callOf(hello)))
  const pid = lanes.states()[0]?.pid as number
  return { lanes, ends, pid, stop: () => process.kill(pid, 'SIGSTOP') }
}

describe.runIf(process.platform === 'linux')('a stopped worker', () => {
  test('without calls is detected and replaced', async () => {
    const { lanes, ends, pid, stop } = await open({ maxStoppedMs: 100 })
    stop()
    await eventually(() => expect(ends).toMatchObject([{ reason: 'killed' }]))
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
    expect(lanes.states()[0]?.pid).not.toBe(pid)
    expect(lanes.standing.of(hello.digest).state).toBe('clear')
    await eventually(() => expect(isAlive(pid)).toBe(false))
  })

  test('with calls in it loses none that has only read', async () => {
    const { lanes, stop } = await open({ maxStoppedMs: 100 })
    const running = ['one', 'two'].map((isolateKey) =>
      outcome(lanes.run('a', callOf(slow, { isolateKey, ...reads }))),
    )
    await eventually(() => expect(lanes.states()).toMatchObject([{ isolates: 3 }]))
    stop()
    expect(await Promise.all(running)).toEqual(['slow', 'slow'])
  })

  test('fails a call that has written with worker_died, and others at their deadline', async () => {
    const { lanes, ends, stop } = await open({ maxStoppedMs: 60_000 })
    stop()
    const hasty = outcome(lanes.run('a', callOf(hello, { deadlineMs: 300 })))
    expect(await hasty).toBe('deadline_passed')
    const writes = outcome(
      lanes.run('a', callOf(slow, { isolateKey: 'other', hasWritten: () => true })),
    )
    expect(await writes).toBe('worker_died')
    expect(ends).toMatchObject([{ reason: 'killed', detail: 'an isolate did not end' }])
    expect(lanes.standing.of(hello.digest).state).toBe('clear')
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  })

  test('that is soon continued stays in use', async () => {
    const { lanes, ends, pid, stop } = await open()
    const running = outcome(lanes.run('a', callOf(slow)))
    stop()
    setTimeout(() => process.kill(pid, 'SIGCONT'), 200)
    expect(await running).toBe('slow')
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
    expect([lanes.states()[0]?.pid, ends]).toEqual([pid, []])
  })
})

test.runIf(process.platform === 'linux')('a starved worker only answers later', async () => {
  const { lanes, ends, pid } = await open({ pollMs: 250 })
  let running = true
  const starve = setInterval(() => {
    running = !running
    process.kill(pid, running ? 'SIGCONT' : 'SIGSTOP')
  }, 50)
  try {
    for (let round = 0; round < 20; round += 1) {
      const calls = [`t${round % 3}`, 'other'].map((isolateKey) =>
        outcome(lanes.run('a', callOf(hello, { isolateKey }))),
      )
      expect(await Promise.all(calls)).toEqual(['hello', 'hello'])
    }
    expect(ends).toEqual([])
  } finally {
    clearInterval(starve)
    process.kill(pid, 'SIGCONT')
  }
  expect(readFileSync(`/proc/${pid}/stat`, 'latin1')).not.toMatch(/\) T /)
})

test.runIf(process.platform === 'linux')(
  'a starved worker is not blamed for an isolate that it does not end in time',
  async () => {
    const { lanes, ends, pid, stop } = await open({ pollMs: 60_000 })
    const native = connectorOf(`${ON_THREAD} for (;;) [].indexOf.call({ length: 2 ** 53 - 1 }, 1)`)
    expect(await outcome(lanes.run('a', callOf(native, { deadlineMs: 300 })))).toBe(
      'deadline_passed',
    )
    stop()
    // The worker runs for a moment now and then: it is never stopped for long, yet hardly runs.
    const starve = setInterval(() => {
      if (!isAlive(pid)) return
      process.kill(pid, 'SIGCONT')
      stop()
    }, 300)
    try {
      await eventually(() => expect(ends).toHaveLength(1))
    } finally {
      clearInterval(starve)
    }
    expect(ends).toMatchObject([{ reason: 'killed', detail: 'an isolate did not end' }])
  },
)
