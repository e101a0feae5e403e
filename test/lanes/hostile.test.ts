import { spawn } from 'node:child_process'
import path from 'node:path'
import type { Duplex } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { isGuilty } from '../../runtime/lanes/lane-errors.ts'
import type { LanesLimits } from '../../runtime/lanes/lanes.ts'
import type { Launcher } from '../../runtime/lanes/launch.ts'
import type { LaneCall } from '../../runtime/protocol/lane-call.ts'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { allGone, openLanes, started } from './fixtures/lanes.ts'

const SCRIPT = path.join(import.meta.dirname, '../hostile/worker/hostile-worker.mjs')

/** Starts the fake worker instead of the real one. */
const launcherOf = (action: string): Launcher => ({
  prefix: [],
  setDataLimit: null,
  containment: { level: 'basic', layers: [], missing: [] },
  start() {
    const child = spawn(process.execPath, [SCRIPT, action], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    if (child.pid) started.push(child.pid)
    return { process: child, pipe: child.stdio[3] as Duplex }
  },
})

const call = callOf(connectorOf(say('1')))

/** Long enough that even a worker that starts late is ready before: one that got no call is left alone. */
const LONG_MS = 2000

/** Long enough that even a worker on a busy machine answers, for tests that check the answer. */
const PATIENT_MS = 60_000

const LIMITS = { pingMs: 50, idlePingMs: 100, disposeMs: 50, pollMs: 20 }

async function runAgainst(
  action: string,
  deadlineMs = PATIENT_MS,
  more: Partial<LaneCall> = {},
  limits: Partial<LanesLimits> = LIMITS,
) {
  const before = started.length
  const { lanes, ends } = openLanes(limits, launcherOf(action))
  let code: string
  try {
    const asked: LaneCall = { ...call, capability: 'list_accounts', deadlineMs, ...more }
    const { reply, fetchError } = await lanes.run('a', asked)
    code = reply.ok ? 'answered' : (fetchError?.code ?? 'refused')
  } catch (error) {
    code = await outcome(Promise.reject(error))
  }
  return { lanes, ends, code, pids: started.slice(before) }
}

describe('a compromised worker is killed, and its call ends with a defined outcome, for', () => {
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
    'a body taken that never was sent',
    'a fetch of no form',
    'a fetch with too many headers',
    'a header too long',
    'a log line of no level',
    'a frame too large',
    'a stream begun twice',
    'a frame of no stream',
    'a message of gigabytes',
    'random bytes',
  ])('%s', async (action) => {
    const { ends, code, pids } = await runAgainst(action)
    expect({ code, ends }).toMatchObject({ code: 'worker_died', ends: [{ reason: 'protocol' }] })
    await allGone(pids)
  })

  test.each([
    ['closing its pipe', 'worker_died'],
    ['ending its half of the pipe', 'worker_died'],
    ['exiting as if all were well', 'worker_died'],
    ['crying memory before it exits', 'worker_memory'],
    ['never starting', 'worker_died'],
  ])('%s', async (action, expected) => {
    const limits = action === 'never starting' ? { ...LIMITS, startMs: 1500 } : LIMITS
    const { ends, code, pids } = await runAgainst(action, PATIENT_MS, {}, limits)
    expect({ code, guilty: ends.map(isGuilty) }).toEqual({ code: expected, guilty: [true] })
    await allGone(pids)
  })

  test('never answering', async () => {
    const { code, pids } = await runAgainst('never answering', LONG_MS)
    expect(code).toBe('deadline_passed')
    await allGone(pids)
  })

  test('answering the call only: an idle isolate must answer pings too', async () => {
    const { code, ends, pids } = await runAgainst('answering the call only')
    expect(code).toBe('answered')
    await allGone(pids)
    expect(ends).toMatchObject([{ reason: 'crashed', detail: 'an isolate did not end' }])
    expect(ends.map(isGuilty)).toEqual([true])
  })

  test('not reading any more', async () => {
    const { code, pids } = await runAgainst('not reading any more', LONG_MS)
    expect(code).toBe('deadline_passed')
    await allGone(pids)
  })
})

describe('the host survives:', () => {
  test.each([
    'a log line nested without end',
    'an answer twice',
    'the end of isolates that never were',
    'aborts of fetches that never were',
  ])('%s', async (action) => {
    const { ends, code } = await runAgainst(action)
    expect({ code, ends }).toEqual({ code: 'answered', ends: [] })
  })

  test('answering pings only: its calls end at their deadline', async () => {
    const { code } = await runAgainst('answering pings only', 300)
    expect(code).toBe('deadline_passed')
  })
})

describe('the host limits:', () => {
  test('the number and the size of log lines', async () => {
    const log = vi.fn()
    const { code, ends } = await runAgainst('log lines without end', PATIENT_MS, { log })
    expect({ code, ends }).toEqual({ code: 'answered', ends: [] })
    expect(log).toHaveBeenCalledTimes(201)
    expect(log.mock.calls[0]).toMatchObject([{ fields: { fields_dropped: 'too long' } }])
    expect(log.mock.calls.at(-1)).toMatchObject([{ message: expect.stringMatching(/dropped/) }])
  })

  test('the number of fetches, which then fail with egress_concurrency', async () => {
    const fetch = vi.fn(() => new Promise<never>(() => {}))
    const { code, ends } = await runAgainst('fetches without end', PATIENT_MS, { fetch })
    expect({ code, ends }).toEqual({ code: 'egress_concurrency', ends: [] })
    expect(fetch).toHaveBeenCalledTimes(2000)
  })
})

test('a host defect while handling a message of a worker ends that worker and is reported', async () => {
  const log = () => {
    throw new TypeError('a defect of the host')
  }
  const { code, ends, pids } = await runAgainst('a log line nested without end', PATIENT_MS, {
    log,
  })
  expect(code).toBe('worker_died')
  expect(ends).toMatchObject([
    { reason: 'crashed', detail: expect.stringContaining('a defect of the host') },
  ])
  await allGone(pids)
})
