import { describe, expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { holds } from '../kit/holds.ts'
import { callOf, connectorOf, ON_THREAD, outcome, say } from './fixtures/connectors.ts'
import { openLanes } from './fixtures/lanes.ts'

const REPLY = {
  status: 200,
  url: 'https://a.example/',
  redirected: false,
  headers: [],
  body: Buffer.alloc(0),
}

/** Ends the worker process: no limit of an isolate stops this. */
const BOMB = '"x".repeat(2 ** 28).split("")'
const WAIT = 'await new Promise((go) => setTimeout(go, 400))'

type Opened = ReturnType<typeof openLanes>
type Lanes = Opened['lanes']

/** Requests that are answered once a worker has died, in the next one alone: a call that waits for one is there when it happens. */
const answeredAgain = (ends: Opened['ends']) => () =>
  ends.length === 0 ? new Promise<never>(() => {}) : Promise.resolve(REPLY)

/** Waits until so many tenants sit in the worker. */
const untilSeated = (lanes: Lanes, isolates: number) =>
  holds(() => expect(lanes.states()[0]?.isolates).toBe(isolates))

describe('a worker that is killed from outside', () => {
  test('costs no call for which nothing but reads has left', async () => {
    const { lanes, ends } = openLanes()
    const slow = connectorOf(`${WAIT}; ${say("'done'")}`)
    const running = [1, 2, 3].map((one) =>
      outcome(lanes.run('a', callOf(slow, { isolateKey: `${one}`, hasWritten: () => false }))),
    )
    await untilSeated(lanes, 3)
    process.kill(lanes.states()[0]?.pid ?? 0, 'SIGKILL')
    expect(await Promise.all(running)).toEqual(['done', 'done', 'done'])
    expect(ends.map(({ reason }) => reason)).toEqual(['killed'])
  })

  test('answers a hundred calls once each, those that had written excepted', async () => {
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
    await untilSeated(lanes, 4)
    process.kill(lanes.states()[0]?.pid ?? 0, 'SIGKILL')
    await ended
    // Nothing is told a second time when the next worker answers.
    await outcome(lanes.run('a', callOf(slow)))
    const expected = told.map((_, one) => [one % 10 === 0 ? 'worker_died' : 'done'])
    expect(told).toEqual(expected)
  })

  test('ends a call that has written: it must not run again', async () => {
    const { lanes } = openLanes()
    const slow = connectorOf(`${WAIT}; ${say("'done'")}`)
    const running = outcome(lanes.run('a', callOf(slow, { hasWritten: () => true })))
    await untilSeated(lanes, 1)
    process.kill(lanes.states()[0]?.pid ?? 0, 'SIGKILL')
    expect(await running).toBe('worker_died')
  })

  test('costs a call its time: the deadline stays', async () => {
    const { lanes } = openLanes()
    const never = connectorOf('await new Promise(() => {})')
    const call = callOf(never, { deadlineMs: 2000, hasWritten: () => false })
    const running = outcome(lanes.run('a', call))
    await untilSeated(lanes, 1)
    await new Promise((go) => setTimeout(go, 500))
    process.kill(lanes.states()[0]?.pid ?? 0, 'SIGKILL')
    // Had the time begun again, one that begins now and has as much would end before.
    const later = outcome(lanes.run('b', callOf(never, { deadlineMs: 2000 })))
    const first = await Promise.race([running, later.then(() => 'the later one')])
    expect(first).toBe('deadline_passed')
    expect(await later).toBe('deadline_passed')
  })

  test('says nothing about who sat in it', async () => {
    const { lanes } = openLanes()
    const hello = connectorOf(say("'hello'"))
    await outcome(lanes.run('a', callOf(hello)))
    process.kill(lanes.states()[0]?.pid ?? 0, 'SIGKILL')
    await holds(() => expect(lanes.states()[0]?.deaths).toBe(1))
    expect(lanes.standing.of(hello.digest)).toEqual({ state: 'clear' })
  })
})

describe('a worker that dies of a call that is over', () => {
  const native = connectorOf(`${ON_THREAD} for (;;) [].indexOf.call({ length: 2 ** 53 - 1 }, 1)`)
  const asks = connectorOf(`await ctx.fetch('https://a.example/'); ${say("'done'")}`)
  const inPeace = { isolateKey: 'in peace', deadlineMs: 20_000, hasWritten: () => false }

  test('because its deadline has passed costs the other call nothing, though that is the last', async () => {
    const { lanes, ends } = openLanes()
    const fetch = answeredAgain(ends)
    const other = outcome(lanes.run('a', callOf(asks, { ...inPeace, fetch })))
    // Long enough for it to begin, also on a busy machine.
    const over = outcome(lanes.run('a', callOf(native, { isolateKey: 'over', deadlineMs: 1500 })))
    expect(await over).toBe('deadline_passed')
    expect(await other).toBe('done')
    expect(ends).toMatchObject([{ reason: 'crashed', detail: 'an isolate did not end' }])
  })

  test('because its caller has hung up costs the other call nothing', async () => {
    const { lanes, ends } = openLanes()
    const fetch = answeredAgain(ends)
    const other = outcome(lanes.run('a', callOf(asks, { ...inPeace, fetch })))
    const caller = new AbortController()
    const bomb = connectorOf(`await new Promise((go) => setTimeout(go, 500)); return ${BOMB}`)
    const { signal } = caller
    const over = outcome(lanes.run('a', callOf(bomb, { isolateKey: 'over', signal })))
    await untilSeated(lanes, 2)
    caller.abort()
    expect(await over).toBe('caller_gone')
    expect(await other).toBe('done')
    expect(ends).toHaveLength(1)
  })
})

describe('a shared worker that one of its connectors brings down', () => {
  test('answers the others all the same, makes suspects of all, and only the guilty one dies again', async () => {
    const { lanes, ends } = openLanes()
    const good = connectorOf(`await ctx.fetch('https://a.example/'); ${say("'good'")}`)
    const bad = connectorOf(`await new Promise((go) => setTimeout(go, 200)); ${BOMB}`)
    const reads = { deadlineMs: 60_000, hasWritten: () => false }
    const fetch = answeredAgain(ends)
    const answers = Promise.all([
      outcome(lanes.run('shared', callOf(good, { ...reads, fetch }))),
      outcome(lanes.run('shared', callOf(bad, reads))),
    ])
    expect(await answers).toEqual(['good', 'worker_memory'])
    expect(lanes.standing.of(good.digest).state).toBe('suspect')
    // Once in company, once alone.
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
