import { describe, expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { eventually } from '../kit/eventually.ts'
import { callOf, connectorOf, ON_THREAD, outcome, say } from './fixtures/connectors.ts'
import { openLanes } from './fixtures/lanes.ts'

const REPLY = {
  status: 200,
  url: 'https://a.example/',
  redirected: false,
  headers: [],
  body: Buffer.alloc(0),
}

/** Exhausts the memory of the worker process; no isolate limit stops it. */
const BOMB = '"x".repeat(2 ** 28).split("")'
const WAIT = 'await new Promise((go) => setTimeout(go, 400))'

type Opened = ReturnType<typeof openLanes>
type Lanes = Opened['lanes']

/** A fetch that settles only after a worker has died: a call waiting for it is running at that moment. */
const fetchAfterDeath = (ends: Opened['ends']) => () =>
  ends.length === 0 ? new Promise<never>(() => {}) : Promise.resolve(REPLY)

/** Waits until the worker has this many isolates. */
const untilIsolates = (lanes: Lanes, isolates: number) =>
  eventually(() => expect(lanes.states()[0]?.isolates).toBe(isolates))

describe('a worker that is killed from outside', () => {
  test('loses no call that has sent only reads', async () => {
    const { lanes, ends } = openLanes()
    const slow = connectorOf(`${WAIT}; ${say("'done'")}`)
    const running = [1, 2, 3].map((one) =>
      outcome(lanes.run('a', callOf(slow, { isolateKey: `${one}`, hasWritten: () => false }))),
    )
    await untilIsolates(lanes, 3)
    process.kill(lanes.states()[0]?.pid ?? 0, 'SIGKILL')
    expect(await Promise.all(running)).toEqual(['done', 'done', 'done'])
    expect(ends.map(({ reason }) => reason)).toEqual(['killed'])
  })

  test('answers each of a hundred calls exactly once; only those that had written fail', async () => {
    const { lanes } = openLanes()
    const slow = connectorOf(`${WAIT}; ${say("'done'")}`)
    const told = Array.from({ length: 100 }, () => [] as string[])
    const ended = new Promise<void>((resolve) => {
      let left = told.length
      for (const [one, all] of told.entries()) {
        const call = callOf(slow, { isolateKey: `${one % 4}`, hasWritten: () => one % 10 === 0 })
        lanes.start('a', call, (result) => {
          all.push(result instanceof RuntimeError ? result.code : 'done')
          left -= 1
          if (left === 0) resolve()
        })
      }
    })
    await untilIsolates(lanes, 4)
    process.kill(lanes.states()[0]?.pid ?? 0, 'SIGKILL')
    await ended
    // No result is reported twice when the next worker answers.
    await outcome(lanes.run('a', callOf(slow)))
    const expected = told.map((_, one) => [one % 10 === 0 ? 'worker_died' : 'done'])
    expect(told).toEqual(expected)
  })

  test('fails a call that has written, because it must not run again', async () => {
    const { lanes } = openLanes()
    const slow = connectorOf(`${WAIT}; ${say("'done'")}`)
    const running = outcome(lanes.run('a', callOf(slow, { hasWritten: () => true })))
    await untilIsolates(lanes, 1)
    process.kill(lanes.states()[0]?.pid ?? 0, 'SIGKILL')
    expect(await running).toBe('worker_died')
  })

  test('does not extend the deadline of a call that runs again', async () => {
    const { lanes } = openLanes()
    const never = connectorOf('await new Promise(() => {})')
    const call = callOf(never, { deadlineMs: 2000, hasWritten: () => false })
    const running = outcome(lanes.run('a', call))
    await untilIsolates(lanes, 1)
    await new Promise((go) => setTimeout(go, 500))
    process.kill(lanes.states()[0]?.pid ?? 0, 'SIGKILL')
    // If the deadline had restarted, this later call with the same deadline would end first.
    const later = outcome(lanes.run('b', callOf(never, { deadlineMs: 2000 })))
    const first = await Promise.race([running, later.then(() => 'the later one')])
    expect(first).toBe('deadline_passed')
    expect(await later).toBe('deadline_passed')
  })

  test('does not count against the connectors that ran in it', async () => {
    const { lanes } = openLanes()
    const hello = connectorOf(say("'hello'"))
    await outcome(lanes.run('a', callOf(hello)))
    process.kill(lanes.states()[0]?.pid ?? 0, 'SIGKILL')
    await eventually(() => expect(lanes.states()[0]?.deaths).toBe(1))
    expect(lanes.standing.of(hello.digest)).toEqual({ state: 'clear' })
  })
})

describe('a worker that dies because of a call that has ended', () => {
  const native = connectorOf(`${ON_THREAD} for (;;) [].indexOf.call({ length: 2 ** 53 - 1 }, 1)`)
  const asks = connectorOf(`await ctx.fetch('https://a.example/'); ${say("'done'")}`)
  const undisturbed = { isolateKey: 'in peace', deadlineMs: 20_000, hasWritten: () => false }

  test('does not fail its only other call when the ended one had passed its deadline', async () => {
    const { lanes, ends } = openLanes()
    const fetch = fetchAfterDeath(ends)
    const other = outcome(lanes.run('a', callOf(asks, { ...undisturbed, fetch })))
    // Long enough for the call to start, even on a busy machine.
    const over = outcome(lanes.run('a', callOf(native, { isolateKey: 'over', deadlineMs: 1500 })))
    expect(await over).toBe('deadline_passed')
    expect(await other).toBe('done')
    expect(ends).toMatchObject([{ reason: 'crashed', detail: 'an isolate did not end' }])
  })

  test('does not fail its other call when the caller of the ended one had hung up', async () => {
    const { lanes, ends } = openLanes()
    const fetch = fetchAfterDeath(ends)
    const other = outcome(lanes.run('a', callOf(asks, { ...undisturbed, fetch })))
    const caller = new AbortController()
    const bomb = connectorOf(`await new Promise((go) => setTimeout(go, 500)); return ${BOMB}`)
    const { signal } = caller
    const over = outcome(lanes.run('a', callOf(bomb, { isolateKey: 'over', signal })))
    await untilIsolates(lanes, 2)
    caller.abort()
    expect(await over).toBe('caller_gone')
    expect(await other).toBe('done')
    expect(ends).toHaveLength(1)
  })
})

describe('a shared worker that one of its connectors brings down', () => {
  test('still answers the other calls and makes all of them suspects; only the guilty one dies again', async () => {
    const { lanes, ends } = openLanes()
    const good = connectorOf(`await ctx.fetch('https://a.example/'); ${say("'good'")}`)
    const bad = connectorOf(`await new Promise((go) => setTimeout(go, 200)); ${BOMB}`)
    const reads = { deadlineMs: 60_000, hasWritten: () => false }
    const fetch = fetchAfterDeath(ends)
    const answers = Promise.all([
      outcome(lanes.run('shared', callOf(good, { ...reads, fetch }))),
      outcome(lanes.run('shared', callOf(bad, reads))),
    ])
    expect(await answers).toEqual(['good', 'worker_memory'])
    expect(lanes.standing.of(good.digest).state).toBe('suspect')
    // Once in the shared worker, once alone.
    expect(ends.map(({ reason }) => reason)).toEqual(['memory', 'memory'])
    const alone = lanes.states().map(({ lane, deaths }) => ({ lane, deaths }))
    expect(alone).toContainEqual({ lane: `alone ${good.digest}`, deaths: 0 })
    expect(alone).toContainEqual({ lane: `alone ${bad.digest}`, deaths: 1 })
  })
})

test('a connector whose worker keeps dying takes no calls until it is released', async () => {
  const { lanes } = openLanes({ restartMs: 1, maxRestartMs: 5 })
  const bad = connectorOf(BOMB)
  const reads = callOf(bad, { deadlineMs: 60_000, hasWritten: () => false })
  const seen = new Set<string>()
  for (let tries = 0; tries < 20 && !seen.has('quarantined'); tries += 1)
    seen.add(await outcome(lanes.run(bad.digest, reads)))
  expect([...seen]).toEqual(['worker_memory', 'quarantined'])
  expect(lanes.standing.of(bad.digest).state).toBe('quarantined')
  expect(lanes.release(bad.digest)).toBe(true)
  expect(await outcome(lanes.run(bad.digest, reads))).toBe('worker_memory')
})
