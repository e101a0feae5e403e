/** Time limits of an attack are scaled by the processor time that other programs leave. */
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { familyOf } from '../../runtime/verify/processes.ts'
import { crowdedWords, shareOf, timesOf } from '../../runtime/verify/processor-share.ts'
import { until } from '../e2e/until.ts'
import { afterThisTest } from '../kit/closing.ts'

const before = { allMs: 5000, busyMs: 1000, ownMs: 500 }

test.each([
  { what: 'nobody else', busyMs: 300, ownMs: 300, share: 1 },
  { what: 'others half of the time', busyMs: 2000, ownMs: 0, share: 0.5 },
  { what: 'others and itself', busyMs: 2000, ownMs: 1000, share: 0.75 },
  { what: 'others all the time', busyMs: 4000, ownMs: 0, share: 0.05 },
])('when $what used the processor, $share of it was left', ({ busyMs, ownMs, share }) => {
  const { allMs } = before
  const after = { allMs: allMs + 4000, busyMs: 1000 + busyMs, ownMs: 500 + ownMs }
  expect(shareOf(before, after)).toBe(share)
})

test('when no time has passed, all of the processor was left', () => {
  expect(shareOf(before, before)).toBe(1)
})

test('a run next to other programs reports how much more time it gave; a run on an idle machine reports nothing', () => {
  const quiet = { leftShare: 0.97, tries: 1 }
  expect(crowdedWords([quiet, quiet])).toBeNull()
  expect(crowdedWords([quiet, { leftShare: 0.8, tries: 1 }, { leftShare: 0.4, tries: 3 }])).toBe(
    'other programs used the processors: 2 of 3 attacks were given more time (at most 2.5 times), and 1 were repeated; the limits are exact on an idle machine',
  )
})

test.runIf(process.platform === 'linux')(
  'the time of a process includes that of its children, while they run and afterwards',
  async () => {
    const child = spawn('sh', [
      '-c',
      '(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); read over',
    ])
    afterThisTest(() => child.kill('SIGKILL'))
    const pid = child.pid ?? 0
    const others = () => timesOf(pid).ownMs - timesOf(NOBODY).ownMs
    await until('the child has used processor time', () => others() > 50)
    const isOver = () => familyOf(pid).length === 1
    await until('the child has ended', isOver)
    expect(others()).toBeGreaterThan(50)
  },
)

/** No process has this number. */
const NOBODY = 2 ** 30
