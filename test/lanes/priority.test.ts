/** Workers of connectors that do not come with the host stand behind it for the processor. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { createPriorities, type Priority } from '../../runtime/lanes/priority.ts'
import { createRank } from '../../runtime/lanes/rank.ts'
import { holds } from '../kit/holds.ts'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { openLanes, started } from './fixtures/lanes.ts'

const hello = connectorOf(say("'hello'"))
const { scheduling } = createPriorities()
const hasGroups = scheduling.means.includes('autogroup')

const autogroupOf = (pid: number | 'self') =>
  Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1])

/** How many steps of the nice value a process is behind this one, by each means that counts. */
function behind(pid: number): number[] {
  const group = hasGroups ? [autogroupOf(pid) - autogroupOf('self')] : []
  return [getPriority(pid) - getPriority(), ...group]
}

const everyMeans = (steps: number) => scheduling.means.map(() => steps)

/** Runs one call in a lane and gives its worker. */
async function workerOf(key: string, limits = {}): Promise<number> {
  const { lanes } = openLanes({ pollMs: 20, ...limits })
  expect(await outcome(lanes.run(key, callOf(hello)))).toBe('hello')
  return lanes.states()[0]?.pid as number
}

describe('a worker', () => {
  test('that runs a connector with a lane of its own is ten steps behind the host', async () => {
    expect(behind(await workerOf(hello.digest))).toEqual(everyMeans(10))
  })

  test('that was kept ready is as far behind, and a description in one, too', async () => {
    const before = started.length
    const { lanes } = openLanes({ pollMs: 20 })
    lanes.keepSpare()
    await holds(() => expect(started).toHaveLength(before + 1))
    expect(await outcome(lanes.run(hello.digest, callOf(hello)))).toBe('hello')
    expect(behind(started[before] ?? 0)).toEqual(everyMeans(10))
    lanes.prepare()
    const described = lanes.describe(connectorOf('', 'for (;;);'), 5000).catch(() => {})
    await holds(() => expect(behind(started.at(-1) ?? 0)).toEqual(everyMeans(10)))
    await described
  })

  test('of the connectors that come with the host starts beside it', async () => {
    expect(behind(await workerOf('built-in'))).toEqual(everyMeans(0))
  })

  test.runIf(scheduling.raises)('that was calm for long enough comes up', async () => {
    const pid = await workerOf(hello.digest, { newMs: 300, pollMs: 250 })
    await holds(() => expect(behind(pid).at(-1)).toBe(0))
  })
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

  test('is the host’s until its start is over, then goes down, and up after a calm time', () => {
    const { set, look } = ranked()
    expect(set).toEqual(['usual', 'low'])
    look('calm')
    look('calm')
    expect(set).toEqual(['usual', 'low', 'usual'])
  })

  test('goes down with the first look at which it burns, for longer', () => {
    const { set, look } = ranked()
    look('calm')
    look('calm')
    look('burns')
    for (let times = 0; times < 3; times += 1) look('calm')
    expect(set).toEqual(['usual', 'low', 'usual', 'low'])
    look('calm')
    expect(set.at(-1)).toBe('usual')
  })

  test('stays down while anything is held against the connector', () => {
    const { set, look } = ranked({ isClear: false })
    for (let times = 0; times < 12; times += 1) look('calm', false)
    expect(set).toEqual(['low'])
    for (let times = 0; times < 4; times += 1) look('calm')
    expect(set).toEqual(['low', 'usual'])
  })

  test('starts down while anything is held against the connector, unless it comes with the host', () => {
    expect(ranked({ isClear: false }).set).toEqual(['low'])
    expect(ranked({ isClear: false, isShared: true }).set).toEqual(['usual'])
  })

  test('goes down at once where the worker has started before, unless it comes with the host', () => {
    expect(ranked({ hasStarted: true }).set).toEqual(['low'])
    expect(ranked({ hasStarted: true, isShared: true }).set).toEqual(['usual'])
  })

  test('stays down where nothing can be raised', () => {
    const { set, look } = ranked({ raises: false })
    for (let times = 0; times < 12; times += 1) look('calm')
    expect(set).toEqual(['usual', 'low'])
  })

  test('that has burned never comes up, and the next worker starts as the first did', () => {
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

  test('of connectors that come with the host changes with burning alone', () => {
    const { set, look } = ranked({ isShared: true })
    for (let times = 0; times < 8; times += 1) look('calm')
    look('burns')
    expect(set).toEqual(['usual'])
    look('burned')
    expect(set).toEqual(['usual', 'last'])
  })
})

/**
 * Runs as a person without any privilege, and says what it could do to a child of its own. Loaded as root: nobody else
 * need be able to read the checkout.
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

test.runIf(process.platform === 'linux')('nobody in particular can lower a worker', async () => {
  const file = path.join(import.meta.dirname, '..', '..', 'runtime', 'lanes', 'priority.ts')
  const args = ['--input-type=module', '--eval', UNPRIVILEGED, file]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
  })
  await once(child, 'close')
  expect(JSON.parse(text)).toEqual({ means: scheduling.means, low: 10, last: 19 })
})

test.runIf(hasGroups)('a process in the group of the host does not lower the host', () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  const before = autogroupOf('self')
  try {
    expect(createPriorities().set(child.pid ?? 0, 'low')).toBe(true)
    expect(autogroupOf('self')).toBe(before)
  } finally {
    child.kill('SIGKILL')
  }
})
