import { spawn } from 'node:child_process'
import path from 'node:path'
import type { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Launcher } from '../../runtime/lanes/launch.ts'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { allGone, openLanes, started } from './fixtures/lanes.ts'

const SCRIPT = path.join(import.meta.dirname, 'fixtures/hostile-worker.mjs')

/** Starts the fake worker in the place of the real one. */
const launcherOf = (deed: string): Launcher => ({
  prefix: [],
  containment: { level: 'basic', layers: [], missing: [] },
  start() {
    const child = spawn(process.execPath, [SCRIPT, deed], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    if (child.pid) started.push(child.pid)
    return { process: child, pipe: child.stdio[3] as Duplex }
  },
})

const call = callOf(connectorOf(say('1')))

async function meet(deed: string, deadlineMs = 3000) {
  const before = started.length
  const limits = { pingMs: 50, disposeMs: 50, startMs: 1500 }
  const { lanes, ends } = openLanes(limits, launcherOf(deed))
  let code: string
  try {
    const { reply } = await lanes.run('a', { ...call, capability: 'list_accounts', deadlineMs })
    code = reply.ok ? 'answered' : 'refused'
  } catch (error) {
    code = await outcome(Promise.reject(error))
  }
  return { lanes, ends, code, pids: started.slice(before) }
}

describe('a worker that was taken over is killed, and its call ends classified, for', () => {
  test.each([
    'an unknown call',
    'a head that is not JSON',
    'a head that is a number',
    'a head without its members',
    'a head of wrong types',
    'a negative length',
    'a length beyond the body',
    'a cursor too long',
    'a refusal of its own making',
    'a description instead of a reply',
    'a message for workers',
    'a kind that does not exist',
    'a fetch of no form',
    'a fetch with too many headers',
    'a log line of no level',
    'a frame too large',
    'a stream begun twice',
    'a frame of no stream',
    'a message of gigabytes',
    'random bytes',
  ])('%s', async (deed) => {
    const { ends, code, pids } = await meet(deed)
    expect({ code, ends }).toMatchObject({ code: 'worker_died', ends: [{ reason: 'protocol' }] })
    await allGone(pids)
  })

  test.each([
    ['closing its pipe', 'worker_died'],
    ['ending its half of the pipe', 'worker_died'],
    ['exiting as if all were well', 'worker_died'],
    ['crying memory before it exits', 'isolate_memory'],
    ['never starting', 'worker_died'],
  ])('%s', async (deed, expected) => {
    const { ends, code, pids } = await meet(deed)
    expect({ code, ends: ends.length }).toEqual({ code: expected, ends: 1 })
    await allGone(pids)
  })

  test('never answering', async () => {
    const { code, pids } = await meet('never answering', 300)
    expect(code).toBe('deadline_passed')
    await allGone(pids)
  })

  test('not reading any more', async () => {
    const { code, pids } = await meet('not reading any more', 300)
    expect(code).toBe('deadline_passed')
    await allGone(pids)
  })
})

describe('is survived:', () => {
  test.each([
    'a log line nested without end',
    'an answer twice',
    'the end of isolates that never were',
    'aborts of fetches that never were',
  ])('%s', async (deed) => {
    const { ends, code } = await meet(deed)
    expect({ code, ends }).toEqual({ code: 'answered', ends: [] })
  })

  test('answering pings only: its calls end at their deadline', async () => {
    const { code } = await meet('answering pings only', 300)
    expect(code).toBe('deadline_passed')
  })
})
