/** Workers of connectors that are not built in run at a lower CPU priority than the host. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { createPriorities, type Priority } from '../../runtime/lanes/priority.ts'
import { createRank } from '../../runtime/lanes/rank.ts'
import { eventually } from '../kit/eventually.ts'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { openLanes, started } from './fixtures/lanes.ts'

const hello = connectorOf(say("'hello'"))
const { scheduling } = createPriorities()
const hasGroups = scheduling.means.includes('autogroup')

const autogroupOf = (pid: number | 'self') =>
  Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1])

/** By how many nice steps a process ranks below this one, for each means that applies. */
function behind(pid: number): number[] {
  const group = hasGroups ? [autogroupOf(pid) - autogroupOf('self')] : []
  return [getPriority(pid) - getPriority(), ...group]
}

const everyMeans = (steps: number) => scheduling.means.map(() => steps)

/** Runs one call in a lane and returns the pid of its worker. */
async function workerOf(key: string, limits = {}): Promise<number> {
  const { lanes } = openLanes({ pollMs: 20, ...limits })
  expect(await outcome(lanes.run(key, callOf(hello)))).toBe('hello')
  return lanes.states()[0]?.pid as number
}

describe('a worker', () => {
  test('of a connector with a lane of its own runs ten nice steps below the host', async () => {
    expect(behind(await workerOf(hello.digest))).toEqual(everyMeans(10))
  })

  test('that was kept as a spare runs ten nice steps below the host, also for a description', async () => {
    const before = started.length
    const { lanes } = openLanes({ pollMs: 20 })
    lanes.keepSpare()
    await eventually(() => expect(started).toHaveLength(before + 1))
    expect(await outcome(lanes.run(hello.digest, callOf(hello)))).toBe('hello')
    expect(behind(started[before] ?? 0)).toEqual(everyMeans(10))
    lanes.prepare()
    const described = lanes.describe(connectorOf('', 'for (;;);'), 5000).catch(() => {})
    await eventually(() => expect(behind(started.at(-1) ?? 0)).toEqual(everyMeans(10)))
    await described
  })

  test('of the built-in connectors starts at the priority of the host', async () => {
    expect(behind(await workerOf('built-in'))).toEqual(everyMeans(0))
  })

  test.runIf(scheduling.raises)(
    'that was calm for long enough is raised to the priority of the host',
    async () => {
      const pid = await workerOf(hello.digest, { newMs: 300, pollMs: 250 })
      await eventually(() => expect(behind(pid).at(-1)).toBe(0))
    },
  )
})

describe('a rank', () => {
  function ranked({ raises = true, isShared = false, isClear = true, hasStarted = false } = {}) {
    let nowMs = 0
    const set: Priority[] = []
    let works = true
    const priorities = {
      scheduling: { means: [], raises },
      set: (_pid: number, priority: Priority) => {
        set.push(priority)
        return works
      },
    }
    const rank = createRank(priorities, { isShared, newMs: 500, goodMs: 1000 }, () => nowMs)
    rank.started(1, isClear, hasStarted)
    rank.ready(1)
    return {
      set,
      fails: (yes: boolean) => {
        works = !yes
      },
      look(use: 'calm' | 'burns' | 'burned', isClearNow = true) {
        nowMs += 250
        rank.looked(1, use, isClearNow)
      },
      again: (isClearNow: boolean) => {
        rank.started(2, isClearNow, false)
        rank.ready(2)
      },
    }
  }

  test('is usual during the start, then low, and usual again after a calm time', () => {
    const { set, look } = ranked()
    expect(set).toEqual(['usual', 'low'])
    look('calm')
    look('calm')
    expect(set).toEqual(['usual', 'low', 'usual'])
  })

  test('is lowered at the first look that finds the worker burning CPU, for longer', () => {
    const { set, look } = ranked()
    look('calm')
    look('calm')
    look('burns')
    for (let times = 0; times < 3; times += 1) look('calm')
    expect(set).toEqual(['usual', 'low', 'usual', 'low'])
    look('calm')
    expect(set.at(-1)).toBe('usual')
  })

  test('stays low while the connector is not clear', () => {
    const { set, look } = ranked({ isClear: false })
    for (let times = 0; times < 12; times += 1) look('calm', false)
    expect(set).toEqual(['low'])
    for (let times = 0; times < 4; times += 1) look('calm')
    expect(set).toEqual(['low', 'usual'])
  })

  test('starts low while the connector is not clear, unless the worker is shared', () => {
    expect(ranked({ isClear: false }).set).toEqual(['low'])
    expect(ranked({ isClear: false, isShared: true }).set).toEqual(['usual'])
  })

  test('is low at once when the worker has already started, unless the worker is shared', () => {
    expect(ranked({ hasStarted: true }).set).toEqual(['low'])
    expect(ranked({ hasStarted: true, isShared: true }).set).toEqual(['usual'])
  })

  test('stays low where priorities cannot be raised', () => {
    const { set, look } = ranked({ raises: false })
    for (let times = 0; times < 12; times += 1) look('calm')
    expect(set).toEqual(['usual', 'low'])
  })

  test('of a worker that has burned stays last, and the next worker starts as the first did', () => {
    const { set, look, again } = ranked()
    look('burned')
    for (let times = 0; times < 12; times += 1) look('calm')
    again(true)
    expect(set).toEqual(['usual', 'low', 'last', 'usual', 'low'])
  })

  test('is set again until it takes effect', () => {
    const { set, look, fails } = ranked()
    fails(true)
    look('burned')
    look('calm')
    fails(false)
    look('calm')
    look('calm')
    expect(set).toEqual(['usual', 'low', 'last', 'last', 'last'])
  })

  test('of a shared worker changes only when the worker has burned', () => {
    const { set, look } = ranked({ isShared: true })
    for (let times = 0; times < 8; times += 1) look('calm')
    look('burns')
    expect(set).toEqual(['usual'])
    look('burned')
    expect(set).toEqual(['usual', 'last'])
  })
})

/**
 * Runs as an unprivileged user and prints which priorities it could give its own child. The module is loaded
 * as root, because other users may be unable to read the checkout.
 */
const UNPRIVILEGED = `
  const { spawn } = await import('node:child_process')
  const { getPriority } = await import('node:os')
  const { createPriorities } = await import(process.argv[1])
  if (process.getuid() === 0) {
    process.setgroups([])
    process.setgid(65534)
    process.setuid(65534)
  }
  const { scheduling, set } = createPriorities()
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  const low = [set(child.pid, 'low'), getPriority(child.pid) - getPriority()]
  const last = [set(child.pid, 'last'), getPriority(child.pid)]
  child.kill('SIGKILL')
  console.log(JSON.stringify({ means: scheduling.means, low: low[1], last: last[1] }))
`

test.runIf(process.platform === 'linux')(
  'an unprivileged user can lower the priority of a worker',
  async () => {
    const file = path.join(import.meta.dirname, '..', '..', 'runtime', 'lanes', 'priority.ts')
    const args = ['--input-type=module', '--eval', UNPRIVILEGED, file]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
    })
    await once(child, 'close')
    expect(JSON.parse(text)).toEqual({ means: scheduling.means, low: 10, last: 19 })
  },
)

test.runIf(hasGroups)(
  'lowering a process in the autogroup of the host does not lower the host',
  () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    const before = autogroupOf('self')
    try {
      expect(createPriorities().set(child.pid ?? 0, 'low')).toBe(true)
      expect(autogroupOf('self')).toBe(before)
    } finally {
      child.kill('SIGKILL')
    }
  },
)
