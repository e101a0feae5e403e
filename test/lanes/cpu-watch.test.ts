import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { describe, expect, test } from 'vitest'
import { createCpuWatch } from '../../runtime/lanes/cpu-watch.ts'
import { createPriorities } from '../../runtime/lanes/priority.ts'
import { eventually } from '../kit/eventually.ts'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { openLanes } from './fixtures/lanes.ts'

function watch() {
  let [nowMs, cpuMs] = [0, 0]
  const look = createCpuWatch(
    () => nowMs,
    () => cpuMs,
    { burnMs: 1000, burnShare: 0.7, busyAnswers: 20 },
  )
  return {
    look,
    /** Advances 250 ms, with this share of CPU used and this total number of answers. */
    quarter(share: number, answers: number) {
      nowMs += 250
      cpuMs += 250 * share
      return look(1, answers)
    },
  }
}

describe('a worker', () => {
  test('that burns CPU for a second without answering is reported once', () => {
    const { look, quarter } = watch()
    look(1, 0)
    expect([1, 1, 1, 1, 1, 1].map((share) => quarter(share, 0))).toEqual([
      'burns',
      'burns',
      'burns',
      'burned',
      'burns',
      'burns',
    ])
  })

  test('that rests in between is not reported', () => {
    const { look, quarter } = watch()
    look(1, 0)
    const shares = [1, 1, 0.2, 1, 1, 1, 0.2]
    expect(shares.map((share) => quarter(share, 0))).not.toContain('burned')
  })

  test('that keeps answering counts as calm, however much CPU it uses', () => {
    const { look, quarter } = watch()
    look(1, 0)
    const answers = [6, 12, 18, 24, 30, 36]
    expect(new Set(answers.map((count) => quarter(2, count)))).toEqual(new Set(['calm']))
  })
})

test.skipIf(process.platform !== 'linux')(
  'a worker that spins gets the lowest priority, and is replaced when its calls have ended',
  async () => {
    const { lanes, ends } = openLanes()
    const hello = connectorOf(say("'hello'"))
    await outcome(lanes.run('a', callOf(hello)))
    const pid = lanes.states()[0]?.pid ?? 0
    const spin = connectorOf('for (;;) {}')
    const spinning = outcome(lanes.run('a', callOf(spin, { deadlineMs: 5000 })))
    await eventually(() => expect(getPriority(pid)).toBe(19))
    if (createPriorities().scheduling.means.includes('autogroup'))
      expect(readFileSync(`/proc/${pid}/autogroup`, 'utf8')).toMatch(/nice 19$/m)
    expect(await spinning).toBe('deadline_passed')
    await eventually(() => expect(lanes.states()).toEqual([]))
    expect(ends.map(({ reason }) => reason)).toEqual(['stopped'])
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  },
)
