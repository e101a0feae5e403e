import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { WorkerProcess } from '../../runtime/lanes/launch.ts'
import { createSpare, withWorker } from '../../runtime/lanes/spare-worker.ts'
import { afterThisTest } from '../kit/closing.ts'
import { eventually } from '../kit/eventually.ts'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { allGone, isAlive, openLanes, realLauncher, started } from './fixtures/lanes.ts'

const hello = connectorOf(say("'hello'"))

/** Lanes that keep a spare worker, and its pid. */
async function withSpare() {
  const before = started.length
  const { lanes, ends } = openLanes()
  lanes.keepSpare()
  await eventually(() => expect(started).toHaveLength(before + 1))
  return { lanes, ends, pid: started[before] ?? 0 }
}

test('a new lane takes the spare worker, and another spare is started', async () => {
  const { lanes, pid } = await withSpare()
  expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  expect(lanes.states()[0]?.pid).toBe(pid)
  await eventually(() => expect(started.at(-1)).not.toBe(pid))
  const next = started.at(-1)
  expect(await outcome(lanes.run('b', callOf(hello)))).toBe('hello')
  expect(lanes.states().map((one) => one.pid)).toEqual([pid, next])
})

test('of several lanes that start at once, only one takes the spare worker', async () => {
  const { lanes, pid } = await withSpare()
  const lane = (name: string) => outcome(lanes.run(name, callOf(hello)))
  expect(await Promise.all(['a', 'b', 'c'].map(lane))).toEqual(['hello', 'hello', 'hello'])
  const pids = lanes.states().map((one) => one.pid)
  expect(pids.filter((one) => one === pid)).toHaveLength(1)
  expect(new Set(pids).size).toBe(3)
})

test('a spare worker that was killed is not used, fails no call and is reported', async () => {
  const { lanes, ends, pid } = await withSpare()
  process.kill(pid, 'SIGKILL')
  await eventually(() => expect(ends).toEqual([{ reason: 'killed', detail: 'SIGKILL' }]))
  expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  expect(ends).toHaveLength(1)
})

test.each(['SIGKILL', 'SIGSTOP'] as const)(
  'a spare worker that has just received %s is not used',
  async (signal) => {
    const { lanes, pid } = await withSpare()
    process.kill(pid, signal)
    await pause(20)
    expect(await lanes.describe(hello, 5000)).toContain('list_accounts')
    await allGone([pid])
  },
)

test('a spare worker whose pipe breaks ends', async () => {
  const launcher = realLauncher()
  const made: WorkerProcess[] = []
  const lost: string[] = []
  const spare = createSpare(
    {
      start() {
        made.push(launcher.start())
        return made.at(-1) as WorkerProcess
      },
    },
    (how) => lost.push(how),
  )
  afterThisTest(spare.stop)
  spare.prepare()
  made[0]?.pipe.emit('error', new Error('EIO'))
  await allGone()
  expect(lost).toEqual(['EIO'])
})

test('the spare worker ends with the lanes', async () => {
  const { lanes, pid } = await withSpare()
  lanes.stop()
  await allGone([pid])
})

test('no spare worker is kept unless it is asked for', async () => {
  const before = started.length
  const { lanes } = openLanes()
  expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  expect(started).toHaveLength(before + 1)
})

test('when no spare can be started, the next start throws, and a spare is kept once one can', async () => {
  const launcher = realLauncher()
  let hasRoom = false
  let tries = 0
  const spare = createSpare(
    {
      start() {
        tries += 1
        if (!hasRoom) throw new Error('no descriptors')
        return launcher.start()
      },
    },
    () => {},
    { firstMs: 0, nextMs: 0 },
  )
  afterThisTest(spare.stop)
  spare.keep()
  await eventually(() => expect(tries).toBe(1))
  expect(spare.start).toThrow('no descriptors')
  hasRoom = true
  await eventually(() => expect(tries).toBe(3))
  const kept = started.at(-1)
  const { process: taken } = spare.start()
  expect(taken.pid).toBe(kept)
  taken.kill('SIGKILL')
})

test('a prepared worker is taken by the next lane, and no other is started', async () => {
  const before = started.length
  const { lanes } = openLanes()
  lanes.prepare()
  lanes.prepare()
  expect(started).toHaveLength(before + 1)
  expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  expect(lanes.states()[0]?.pid).toBe(started[before])
  expect(started).toHaveLength(before + 1)
})

test('a prepared worker ends when it is released, unless a spare is kept', async () => {
  const spare = createSpare(realLauncher(), () => {}, { firstMs: 0, nextMs: 0 })
  afterThisTest(spare.stop)
  const letGo = spare.prepare()
  const first = started.at(-1) ?? 0
  letGo()
  await allGone([first])
  spare.keep()
  spare.prepare()()
  expect(isAlive(started.at(-1) ?? 0)).toBe(true)
})

test('a worker that was prepared for an operation that fails is ended', async () => {
  const { lanes } = openLanes()
  const fails = async (): Promise<{ ok: boolean }> => ({ ok: false })
  await withWorker(lanes, fails)
  await withWorker(lanes, () => Promise.reject(new Error('no room'))).catch(() => {})
  await allGone()
})

test('stopped lanes start no spare worker', async () => {
  const before = started.length
  const { lanes } = openLanes()
  lanes.stop()
  lanes.keepSpare()
  lanes.prepare()
  await pause(300)
  expect(started).toHaveLength(before)
})
