/** Code that keeps running after its call has ended. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { isAlive, openLanes } from './fixtures/lanes.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
/** Short, but long enough for a busy machine. */
const LIMITS = { pollMs: 20, idlePingMs: 300, disposeMs: 500 }

/** Processor time that a process has used, in milliseconds. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function expectIdle(pid: number) {
  await eventually(async () => {
    // A process that is gone counts as idle.
    if (!isAlive(pid)) return
    const before = cpuMs(pid)
    await pause(300)
    if (isAlive(pid)) expect(cpuMs(pid) - before).toBeLessThan(150)
  })
}

const hello = connectorOf(say("'hello'"))
const NATIVE = 'for (;;) [].indexOf.call({ length: 2 ** 53 - 1 }, 1)'

describe('after a call has answered', () => {
  test('no timer fires, not even one that was set afterwards', async () => {
    const { lanes } = openLanes(LIMITS)
    const sets = connectorOf(
      `void (async () => { for (let turn = 0; turn < 500; turn += 1) await null; setTimeout(() => { fired = true }, 50) })(); ${say('fired')}`,
      'let fired = false',
    )
    expect(await outcome(lanes.run('a', callOf(sets)))).toBe('false')
    await pause(300)
    expect(await outcome(lanes.run('a', callOf(sets)))).toBe('false')
  })
})

describe('after the caller has hung up', () => {
  async function hangUpOn(body: string, top = '', limits = {}) {
    const { lanes, ends } = openLanes({ ...LIMITS, ...limits })
    const hangUp = new AbortController()
    const connector = connectorOf(body, top)
    const begun = Promise.withResolvers<void>()
    const call = callOf(connector, {
      deadlineMs: 1500,
      signal: hangUp.signal,
      log: () => begun.resolve(),
    })
    const running = outcome(lanes.run('a', call))
    await begun.promise
    hangUp.abort()
    expect(await running).toBe('caller_gone')
    return { lanes, ends }
  }

  test('code that answers pings but never ends is ended at the deadline', async () => {
    const { lanes, ends } = await hangUpOn(
      `ctx.log.info('x'); setInterval(() => { const end = Date.now() + 45; while (Date.now() < end); }, 1); await new Promise(() => {})`,
    )
    const pid = lanes.states()[0]?.pid as number
    await eventually(() => expect(lanes.states()[0]?.isolates ?? 0).toBe(0))
    // A worker that burned CPU for a second is replaced as well; otherwise it stays.
    await expectIdle(pid)
    expect(ends.filter(({ reason }) => reason !== 'stopped')).toEqual([])
  })

  test('a native loop is ended with its worker', async () => {
    const { ends } = await hangUpOn(
      `ctx.log.info('x'); await new Promise((go) => setTimeout(go, 20)); ${NATIVE}`,
    )
    await eventually(() => expect(ends).toHaveLength(1))
    // Either it did not end, or it had burned CPU and was replaced once no call was left.
    expect(['crashed', 'stopped']).toContain(ends[0]?.reason)
  })

  test('a handler that ends keeps its isolate', async () => {
    const { lanes, ends } = await hangUpOn(
      `ctx.log.info('x'); await new Promise((go) => setTimeout(go, 50)); ${say("'late'")}`,
    )
    await pause(2000)
    expect([lanes.states()[0]?.isolates, ends]).toEqual([1, []])
  })
})

test('a bundle that spins while it loads ends at the deadline of its call, and its worker survives', async () => {
  const { lanes, ends } = openLanes(LIMITS)
  await outcome(lanes.run('a', callOf(hello)))
  const bad = connectorOf(say("'x'"), 'for (;;) {}')
  expect(await outcome(lanes.run('a', callOf(bad, { deadlineMs: 300 })))).toBe('deadline_passed')
  await pause(1000)
  expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  expect(ends).toEqual([])
})

test('many tenants at once wait for an isolate, but not past their deadline', async () => {
  const { lanes, ends } = openLanes({ ...LIMITS, maxIsolates: 4, maxWaiting: 20 })
  const waits = connectorOf(`await new Promise((go) => setTimeout(go, 150)); ${say("'done'")}`)
  await outcome(lanes.run(waits.digest, callOf(waits, { isolateKey: 'first' })))
  const running = Array.from({ length: 30 }, (_, tenant) =>
    outcome(lanes.run(waits.digest, callOf(waits, { isolateKey: `${tenant}` }))),
  )
  const hurried = outcome(
    lanes.run(waits.digest, callOf(waits, { isolateKey: '0', deadlineMs: 50 })),
  )
  await eventually(() => expect(lanes.states()[0]?.isolates).toBe(4))
  expect(await hurried).toBe('deadline_passed')
  const codes = await Promise.all(running)
  expect(codes.filter((code) => code === 'queue_full').length).toBe(6)
  expect(codes.filter((code) => code === 'done').length).toBeGreaterThanOrEqual(23)
  expect(lanes.states()[0]?.isolates).toBeLessThanOrEqual(4)
  expect(ends).toEqual([])
})

test('calls that wait for an isolate in a worker that dies run in the next worker', async () => {
  const { lanes, ends } = openLanes({ ...LIMITS, maxIsolates: 1 })
  const waits = connectorOf('await new Promise(() => {})')
  const first = outcome(lanes.run('a', callOf(waits, { hasWritten: () => true })))
  const second = outcome(lanes.run('a', callOf(hello)))
  await eventually(() => expect(lanes.states()).toMatchObject([{ calls: 2, isolates: 1 }]))
  process.kill(lanes.states()[0]?.pid as number, 'SIGKILL')
  expect([await first, await second]).toEqual(['worker_died', 'hello'])
  expect(ends).toHaveLength(1)
})
