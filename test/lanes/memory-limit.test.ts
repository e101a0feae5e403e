/** Memory limits of a worker that the operating system enforces, without polling by the host. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { openLanes } from './fixtures/lanes.ts'

/** Turns off the host's own limit on resident memory. */
const UNWATCHED = { maxWorkerBytes: Number.POSITIVE_INFINITY }
/** Each iterator keeps another copy of the text, for ICU. */
const INTL_BOMB = `const words = new Intl.Segmenter('en', { granularity: 'word' })
const text = 'x'.repeat(200_000)
const all = []
for (;;) all.push(words.segment(text)[Symbol.iterator]())`
const hello = connectorOf(say("'hello'"))

test.runIf(process.platform === 'linux')(
  'a worker has its own data limit, the highest oom_score_adj and a coarse timer slack',
  async () => {
    const { lanes } = openLanes()
    await outcome(lanes.run('a', callOf(hello)))
    const about = (name: string) =>
      readFileSync(`/proc/${lanes.states()[0]?.pid}/${name}`, 'latin1').trim()
    const bytes = String(3 * 1024 ** 3)
    expect(about('limits')).toMatch(new RegExp(`Max data size +${bytes} +unlimited `))
    expect(about('oom_score_adj')).toBe('1000')
    expect(about('timerslack_ns')).toBe('2000000')
    expect(lanes.containment.layers).toEqual(
      expect.arrayContaining(['memory-limit', 'out-of-memory-order']),
    )
  },
)

test.runIf(process.platform === 'linux')(
  'memory outside the heap ends its worker at the limit, and no other',
  async () => {
    const { lanes, ends } = openLanes(UNWATCHED)
    const beside = outcome(lanes.run('b', callOf(hello)))
    const bomb = connectorOf(INTL_BOMB, '', 64)
    // When an allocation fails, ICU either reports it or crashes.
    expect(['worker_memory', 'worker_died']).toContain(
      await outcome(lanes.run('a', callOf(bomb, { deadlineMs: 60_000 }))),
    )
    // On the main thread of its first worker it may count as stalled before memory runs out.
    const [end, ...more] = ends.filter(({ reason }) => reason !== 'stalled')
    expect(['memory', 'crashed']).toContain(end?.reason)
    expect(more).toEqual([])
    expect(await beside).toBe('hello')
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  },
)

test('a worker runs its maximum of 64 isolates when 70 tenants call at once', async () => {
  const { lanes, ends } = openLanes()
  const waits = connectorOf(`await new Promise((go) => setTimeout(go, 300)); ${say("'done'")}`)
  const running = Array.from({ length: 70 }, (_, tenant) =>
    outcome(
      lanes.run(waits.digest, callOf(waits, { isolateKey: `${tenant}`, deadlineMs: 20_000 })),
    ),
  )
  expect(new Set(await Promise.all(running))).toEqual(new Set(['done']))
  expect(lanes.states()[0]?.isolates).toBe(64)
  expect(ends).toEqual([])
})
