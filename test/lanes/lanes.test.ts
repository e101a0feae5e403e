import { spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import type { Launcher, WorkerProcess } from '../../runtime/lanes/launch.ts'
import type { FetchRequest } from '../../runtime/protocol/lane-call.ts'
import { eventually } from '../kit/eventually.ts'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import {
  allGone,
  isAlive,
  openLanes,
  realLauncher,
  sharedLanes,
  started,
} from './fixtures/lanes.ts'

const hello = connectorOf(say("'hello'"))

/** In milliseconds; longer than code may take to load, even on a machine that hardly lets it run. */
const LOADED_MS = 30_000

describe('a call', () => {
  test('runs in a worker that is started for it', async () => {
    const { lanes, ends } = openLanes()
    expect(lanes.states()).toEqual([])
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
    const [state] = lanes.states()
    expect(state).toMatchObject({ lane: 'a', calls: 0, isolates: 1, deaths: 0 })
    expect(isAlive(state?.pid ?? 0)).toBe(true)
    expect(ends).toEqual([])
  })

  test('of a connector larger than a frame runs, and so do concurrent ones', async () => {
    const { lanes } = sharedLanes()
    const large = connectorOf(say('text.length'), `const text = "${'x'.repeat(2_000_000)}"`, 64)
    const running = Array.from({ length: 5 }, (_, one) =>
      outcome(lanes.run('a', callOf(large, { isolateKey: `${one}` }))),
    )
    expect(await Promise.all(running)).toEqual(Array(5).fill('2000000'))
  })

  test('sees the state that earlier calls of its tenant left, and no other tenant’s', async () => {
    const { lanes } = sharedLanes()
    const counter = connectorOf(say('count += 1'), 'let count = 0')
    const ask = (isolateKey: string) => outcome(lanes.run('a', callOf(counter, { isolateKey })))
    expect([await ask('one'), await ask('one'), await ask('two'), await ask('one')]).toEqual([
      '1',
      '2',
      '1',
      '3',
    ])
  })

  test('never shares an isolate with another connector of the lane', async () => {
    const { lanes } = sharedLanes()
    const leave = connectorOf(say('globalThis.left = "mine"'))
    const look = connectorOf(say('globalThis.left'))
    expect(await outcome(lanes.run('a', callOf(leave)))).toBe('mine')
    expect(await outcome(lanes.run('a', callOf(look)))).toBe('undefined')
  })

  test('runs concurrently with others, each with its own answer', async () => {
    const { lanes } = sharedLanes()
    const echo = connectorOf(`await null; ${say('ctx.settings.name')}`)
    const ask = (name: number) => {
      const callJson = JSON.stringify({
        request: {},
        settings: { name },
        auth: {},
        credentials: null,
        page: { cursor: null, size: null },
      })
      return outcome(lanes.run('a', callOf(echo, { isolateKey: `${name % 7}`, callJson })))
    }
    const names = Array.from({ length: 200 }, (_, index) => index)
    expect(await Promise.all(names.map(ask))).toEqual(names.map(String))
  })

  test('passes its log lines to the host with level and fields', async () => {
    const { lanes } = sharedLanes()
    const log = vi.fn()
    const chatty = connectorOf(`ctx.log.warn('careful', { a: [1] }); ${say("'x'")}`)
    await outcome(lanes.run('a', callOf(chatty, { log })))
    expect(log.mock.calls).toEqual([[{ level: 'warn', message: 'careful', fields: { a: [1] } }]])
  })

  test.each([
    ['throws', 'throw new TypeError("oops")', 'unexpected_error: oops'],
    ['returns an invalid value', 'return 5', 'reply_invalid'],
    [
      'has an invalid status code',
      'throw Object.assign(new Error("x"), { error_code: "not_found", status_code: 1e300 })',
      'not_found: x',
    ],
  ])(
    'that %s fails with a matching error, and the worker survives',
    async (_name, body, expected) => {
      const { lanes, ends } = sharedLanes()
      expect(await outcome(lanes.run('a', callOf(connectorOf(body))))).toBe(expected)
      expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
      expect(ends).toEqual([])
    },
  )
})

describe('the network', () => {
  const reply = (body: Buffer) => ({
    status: 201,
    url: 'https://a.example/final',
    redirected: true,
    headers: [['x-reply', 'yes'] as [string, string]],
    body,
  })
  const read = `const reply = await ctx.fetch('https://a.example/x', { method: 'POST', headers: { 'x-own': 'é' }, body: new Uint8Array([0, 255, 128]) })
    const bytes = await reply.bytes()
    ${say("[reply.status, reply.url, reply.redirected, reply.headers.get('x-reply'), bytes.length, bytes[0], bytes.at(-1)].join()")}`

  test('carries bytes unchanged in both directions', async () => {
    const { lanes } = sharedLanes()
    const bytes = Buffer.alloc(300_000, Buffer.from([255, 0, 128, 7]))
    const asked: FetchRequest[] = []
    const fetch = async (request: FetchRequest) => {
      asked.push(request)
      return reply(bytes)
    }
    const answer = await outcome(lanes.run('a', callOf(connectorOf(read), { fetch })))
    expect(answer).toBe('201,https://a.example/final,true,yes,300000,255,7')
    expect(asked).toMatchObject([
      { url: 'https://a.example/x', method: 'POST', redirect: 'follow' },
    ])
    expect(asked[0]?.body).toEqual(Buffer.from([0, 255, 128]))
  })

  test('reports a failure to the guest and keeps the original error in the host', async () => {
    const { lanes } = sharedLanes()
    const error = new RuntimeError('egress_private', 'not granted')
    const caught = connectorOf(
      `try { await ctx.fetch('https://a.example') } catch (error) { ${say("[error.error_code, error.message].join(' ')")} }`,
    )
    const through = connectorOf("await ctx.fetch('https://a.example')")
    const fetch = () => Promise.reject(error)
    expect(await outcome(lanes.run('a', callOf(caught, { fetch })))).toBe(
      'permission_denied not granted',
    )
    expect((await lanes.run('a', callOf(through, { fetch }))).fetchError).toBe(error)
  })

  test('reports a defect in the host as an internal error of that request', async () => {
    const { lanes } = sharedLanes()
    const fetch = () => Promise.reject(new TypeError('a defect'))
    const through = connectorOf("await ctx.fetch('https://a.example')")
    expect((await lanes.run('a', callOf(through, { fetch }))).fetchError).toMatchObject({
      code: 'internal',
    })
  })

  test('aborts a request whose call ends before it', async () => {
    const { lanes } = sharedLanes()
    const aborted = vi.fn()
    const fetch = ({ signal }: FetchRequest) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted()
          reject(new Error('aborted'))
        })
      })
    const forgets = connectorOf(
      `void ctx.fetch('https://a.example').catch(() => {}); await new Promise((go) => setTimeout(go, 30)); ${say("'done'")}`,
    )
    expect(await outcome(lanes.run('a', callOf(forgets, { fetch })))).toBe('done')
    await eventually(() => expect(aborted).toHaveBeenCalled())
  })

  test.each([
    ['an address', "ctx.fetch('https://a.example/?' + 'x'.repeat(70_000))"],
    ['a method', "ctx.fetch('https://a.example/', { method: 'X'.repeat(40) })"],
    [
      'headers',
      "ctx.fetch('https://a.example/', { headers: Array.from({ length: 300 }, (_, one) => ['x-' + one, 'y']) })",
    ],
  ])('fails a request with too large %s, not the worker', async (_name, request) => {
    const { lanes, ends } = sharedLanes()
    const fetch = async () => reply(Buffer.from(''))
    const asks = connectorOf(
      `try { await ${request} } catch (error) { ${say("'refused'")} } ${say("'sent'")}`,
    )
    expect(await outcome(lanes.run('a', callOf(asks, { fetch })))).toBe('refused')
    expect(ends).toEqual([])
  })
})

describe('the deadline', () => {
  const spin = connectorOf('for (;;) {}')

  test('ends code that spins, and the next call runs', async () => {
    const { lanes, ends } = openLanes()
    await outcome(lanes.run('a', callOf(hello)))
    expect(await outcome(lanes.run('a', callOf(spin, { deadlineMs: 150 })))).toBe('deadline_passed')
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
    expect(ends).toEqual([])
  })

  test('ends code that spins after an await', async () => {
    const { lanes } = openLanes()
    const later = connectorOf('await null; for (;;) {}')
    expect(await outcome(lanes.run('a', callOf(later, { deadlineMs: 300 })))).toBe(
      'deadline_passed',
    )
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  })

  test('ends a promise that never settles', async () => {
    const { lanes } = openLanes()
    const never = connectorOf('await new Promise(() => {})')
    expect(await outcome(lanes.run('a', callOf(never, { deadlineMs: 300 })))).toBe(
      'deadline_passed',
    )
  })

  test('leaves the other isolates of the worker alone', async () => {
    const { lanes, ends } = openLanes()
    await outcome(lanes.run('a', callOf(hello, { isolateKey: 'other' })))
    const spinning = outcome(lanes.run('a', callOf(spin, { deadlineMs: 400 })))
    for (let round = 0; round < 20; round += 1)
      expect(await outcome(lanes.run('a', callOf(hello, { isolateKey: 'other' })))).toBe('hello')
    expect(await spinning).toBe('deadline_passed')
    expect(await outcome(lanes.run('a', callOf(hello, { isolateKey: 'other' })))).toBe('hello')
    expect(ends).toEqual([])
  })

  test('ends a native loop with its worker, and the next call runs', async () => {
    const { lanes, ends } = openLanes()
    // The worker is there: the deadline passes in the loop, not while a worker starts.
    await outcome(lanes.run('a', callOf(hello)))
    const native = connectorOf('[].indexOf.call({ length: 2 ** 53 - 1 }, 1)')
    expect(await outcome(lanes.run('a', callOf(native, { deadlineMs: 400 })))).toBe(
      'deadline_passed',
    )
    await eventually(() => expect(ends).toHaveLength(1))
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  })

  test('covers the start of the worker', async () => {
    const { lanes } = openLanes()
    expect(await outcome(lanes.run('a', callOf(hello, { deadlineMs: 1 })))).toBe('deadline_passed')
  })

  test('of a call that waits for a slow system does not affect other calls in its isolate', async () => {
    const { lanes } = openLanes()
    const waits = connectorOf(
      `await new Promise((go) => setTimeout(go, ctx.settings.ms)); ${say("'done'")}`,
    )
    const callJson = (ms: number) =>
      JSON.stringify({
        request: {},
        settings: { ms },
        auth: {},
        credentials: null,
        page: { cursor: null, size: null },
      })
    await outcome(lanes.run('a', callOf(waits, { callJson: callJson(1) })))
    const slow = outcome(
      lanes.run('a', callOf(waits, { callJson: callJson(60_000), deadlineMs: 100 })),
    )
    const write = outcome(lanes.run('a', callOf(waits, { callJson: callJson(280) })))
    expect([await slow, await write]).toEqual(['deadline_passed', 'done'])
  })
})

describe('a caller that hangs up', () => {
  test('before the call gets caller_gone', async () => {
    const { lanes } = sharedLanes()
    const call = callOf(hello, { signal: AbortSignal.abort() })
    expect(await outcome(lanes.run('a', call))).toBe('caller_gone')
  })

  test('during the call ends the call and its requests', async () => {
    const { lanes } = openLanes()
    const hangUp = new AbortController()
    const aborted = vi.fn()
    const fetch = ({ signal }: FetchRequest) => {
      hangUp.abort()
      return new Promise<never>((_resolve, reject) => {
        if (signal.aborted) aborted()
        signal.addEventListener('abort', () => reject(aborted()))
      })
    }
    const waits = connectorOf("await ctx.fetch('https://a.example')")
    const call = callOf(waits, { fetch, signal: hangUp.signal })
    expect(await outcome(lanes.run('a', call))).toBe('caller_gone')
    await eventually(() => expect(aborted).toHaveBeenCalled())
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  })
})

describe('memory', () => {
  test.each([
    ['an array', 'const all = []; for (;;) all.push({ n: all.length })'],
    ['a map', 'const all = new Map(); for (;;) all.set(all.size, {})'],
  ])(
    'exhausted by %s is reported as isolate_memory, and the next call runs',
    async (_name, body) => {
      const { lanes } = openLanes()
      const bomb = connectorOf(body)
      expect(await outcome(lanes.run('a', callOf(bomb)))).toBe('isolate_memory')
      expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
    },
  )

  test('exhausted in the whole worker is reported as worker_memory, and the next call runs', async () => {
    const { lanes, ends } = openLanes()
    const bomb = connectorOf('"x".repeat(2 ** 28).split("")')
    expect(await outcome(lanes.run('a', callOf(bomb)))).toBe('worker_memory')
    // On a busy machine it may stall the main thread of its first worker before memory runs out.
    expect(ends.filter(({ reason }) => reason !== 'stalled')).toMatchObject([{ reason: 'memory' }])
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
    expect(lanes.states()).toContainEqual(
      expect.objectContaining({ lane: 'a', deaths: ends.length }),
    )
  })

  test('above the limit of a worker ends the worker', async () => {
    const { lanes, ends } = openLanes({ maxWorkerBytes: 10 * 1024 * 1024, pollMs: 20 })
    const waits = connectorOf('await new Promise(() => {})')
    expect(await outcome(lanes.run('a', callOf(waits)))).toBe('worker_memory')
    expect(ends).toMatchObject([{ reason: 'memory', detail: 'resident memory' }])
  })
})

describe('an isolate that cannot be created', () => {
  test.each([
    ['throws', 'throw new Error("no luck")'],
    ['throws nothing', 'throw undefined'],
    ['spins', 'for (;;) {}'],
    ['does not parse', 'const = 1'],
  ])('because the code %s when it loads fails only its own calls', async (_name, top) => {
    const { lanes, ends } = sharedLanes()
    const bad = connectorOf(say("'x'"), top)
    const call = callOf(bad, { deadlineMs: LOADED_MS })
    const both = [lanes.run('a', call), lanes.run('a', call)].map(outcome)
    expect(await Promise.all(both)).toEqual(['load_failed', 'load_failed'])
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
    expect(ends).toEqual([])
  })
})

/** A call that must not run again. */
const WRITTEN = { hasWritten: () => true }

describe('a worker', () => {
  test('that is killed from outside fails its calls with worker_died, and is replaced', async () => {
    const { lanes, ends } = openLanes()
    await outcome(lanes.run('a', callOf(hello)))
    const waits = connectorOf('await new Promise(() => {})')
    const running = outcome(lanes.run('a', callOf(waits, WRITTEN)))
    const { pid } = lanes.states()[0] ?? {}
    process.kill(pid ?? 0, 'SIGKILL')
    expect(await running).toBe('worker_died')
    expect(ends).toMatchObject([{ reason: 'killed' }])
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
    expect(lanes.states()[0]?.pid).not.toBe(pid)
  })

  test('that keeps dying is restarted after a pause, and a call does not wait past its deadline', async () => {
    const { lanes } = openLanes({ restartMs: 150, maxRestartMs: 60_000 })
    const bomb = connectorOf('"x".repeat(2 ** 28).split("")')
    for (let round = 0; round < 3; round += 1) await outcome(lanes.run('a', callOf(bomb)))
    expect(await outcome(lanes.run('a', callOf(hello, { deadlineMs: 50 })))).toBe('deadline_passed')
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  })

  /** A launcher whose first `times` starts fail. */
  const shortOf = (times: number, refuse: () => WorkerProcess): Launcher => {
    const real = realLauncher()
    let left = times
    return { ...real, start: () => (left-- > 0 ? refuse() : real.start()) }
  }
  const thrownAtOnce = () => {
    throw new Error('no more descriptors')
  }
  const reportedLater = () => {
    const child = spawn('/nowhere/at-all', { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
    return { process: child, pipe: child.stdio[3] as Duplex }
  }

  test('gets only the standard descriptors, which Node’s permission model lets it use as a socket', async () => {
    let made: WorkerProcess | null = null
    const real = realLauncher()
    const { lanes } = openLanes({}, { ...real, start: () => (made = real.start()) })
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
    expect((made as WorkerProcess | null)?.process.stdio.length).toBe(3)
  })

  test('that ends before it is ready reports why', async () => {
    const refuse = () => {
      const child = spawn(process.execPath, ['-e', 'throw new TypeError("it is not allowed")'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      return { process: child, pipe: child.stdio[1] as Duplex }
    }
    const { lanes } = openLanes({}, shortOf(Number.POSITIVE_INFINITY, refuse))
    await expect(lanes.describe(hello, LOADED_MS)).rejects.toMatchObject({
      code: 'worker_died',
      message: 'the worker process of the connector could not begin: TypeError: it is not allowed',
    })
  })

  test.each([
    ['throws', thrownAtOnce],
    ['reports it later', reportedLater],
  ])(
    'that cannot be started fails its calls with worker_died, where the launcher %s',
    async (_how, refuse) => {
      const { lanes, ends } = openLanes({}, shortOf(Number.POSITIVE_INFINITY, refuse))
      expect(await outcome(lanes.run('a', callOf(hello, WRITTEN)))).toBe('worker_died')
      expect(ends).toMatchObject([{ reason: 'unstarted' }])
      expect(lanes.standing.of(hello.digest).state).toBe('clear')
    },
  )

  test.each([
    ['throws', thrownAtOnce],
    ['reports it later', reportedLater],
  ])('that could not be started is started again, where the launcher %s', async (_how, refuse) => {
    const { lanes } = openLanes({}, shortOf(1, refuse))
    const reads = callOf(hello, { hasWritten: () => false })
    expect(await outcome(lanes.run('a', reads))).toBe('hello')
  })

  test('that could not be started for a while is started once the system allows it', async () => {
    const { lanes } = openLanes({ restartMs: 50, maxRestartMs: 60_000 }, shortOf(12, thrownAtOnce))
    const seen: string[] = []
    for (let tries = 0; tries < 12 && seen.at(-1) !== 'hello'; tries += 1)
      seen.push(await outcome(lanes.run('a', callOf(hello, { hasWritten: () => false }))))
    expect(seen).toEqual([...Array.from({ length: 6 }, () => 'worker_died'), 'hello'])
  })

  test('that is idle is stopped, and started again for the next call', async () => {
    const { lanes, ends } = openLanes({ idleMs: 30, pollMs: 20 })
    await outcome(lanes.run('a', callOf(hello)))
    await eventually(() => expect(ends).toMatchObject([{ reason: 'stopped', detail: 'idle' }]))
    expect(lanes.states()).toEqual([])
    expect(await outcome(lanes.run('a', callOf(hello)))).toBe('hello')
  })

  test('is not stopped while a call waits for it to start', async () => {
    const { lanes } = openLanes({ pollMs: 5 })
    const running = outcome(lanes.run('a', callOf(hello)))
    lanes.drain('a')
    expect(await running).toBe('hello')
    await eventually(() => expect(lanes.states()).toEqual([]))
  })

  test('that is drained ends when its calls have ended', async () => {
    const { lanes, ends } = openLanes({ pollMs: 10 })
    const waits = connectorOf(`await new Promise((go) => setTimeout(go, 200)); ${say("'done'")}`)
    await outcome(lanes.run('a', callOf(hello)))
    const running = outcome(lanes.run('a', callOf(waits)))
    lanes.drain('a')
    expect(await running).toBe('done')
    await eventually(() => expect(ends).toMatchObject([{ reason: 'stopped', detail: 'drained' }]))
  })
})

describe('a description', () => {
  test('lists the implemented capabilities, in a worker that is ended afterwards', async () => {
    const { lanes } = openLanes()
    const before = started.length
    expect(await lanes.describe(hello, 5000)).toEqual(['list_accounts', 'validate_credentials'])
    await allGone(started.slice(before))
  })

  test.each([
    ['load_failed', 'throw new Error("no")'],
    // Large pieces: on a slow machine, small ones would exceed the time limit of loading first.
    ['isolate_memory', 'const all = []; for (;;) all.push(new Array(100_000).fill(0))'],
  ])('fails with %s', async (code, top) => {
    const { lanes } = openLanes()
    const bad = connectorOf(say("'x'"), top)
    await expect(lanes.describe(bad, LOADED_MS)).rejects.toMatchObject({ code })
  })
})

describe('after the stop', () => {
  test('running and new calls fail with stopping, and no process is left', async () => {
    const { lanes } = openLanes()
    const before = started.length
    await outcome(lanes.run('a', callOf(hello)))
    const waits = connectorOf('await new Promise(() => {})')
    const running = [
      outcome(lanes.run('a', callOf(waits))),
      outcome(lanes.run('b', callOf(waits))),
      lanes.describe(hello, 5000).then(String, (error: RuntimeError) => error.code),
    ]
    lanes.stop()
    expect(await Promise.all(running)).toEqual(['stopping', 'stopping', 'stopping'])
    expect(await outcome(lanes.run('c', callOf(hello)))).toBe('stopping')
    await allGone(started.slice(before))
  })

  test('no worker is started for a call that was waiting out a restart pause', async () => {
    const { lanes } = openLanes({ restartMs: 200, maxRestartMs: 200 })
    const bomb = connectorOf('"x".repeat(2 ** 28).split("")')
    for (let round = 0; round < 3; round += 1) await outcome(lanes.run('a', callOf(bomb)))
    const running = outcome(lanes.run('a', callOf(hello)))
    const before = started.length
    lanes.stop()
    expect(await running).toBe('stopping')
    await new Promise((resolve) => setTimeout(resolve, 250))
    expect(started.length).toBe(before)
  })
})

test('a call that must not run again is not cut off while it computes', async () => {
  const { lanes, ends } = openLanes()
  const computes = connectorOf(
    `const endMs = Date.now() + 200; while (Date.now() < endMs); ${say("'done'")}`,
  )
  expect(await outcome(lanes.run('a', callOf(computes, WRITTEN)))).toBe('done')
  expect(ends).toEqual([])
})
