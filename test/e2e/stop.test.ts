/**
 * A host that is stopped while it is busy completes the calls it has accepted and exits soon, with all its
 * processes.
 */
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { familyOf } from '../../runtime/verify/processes.ts'
import { code, manifest, withToken } from '../fixtures/folders.ts'
import { bestMs } from '../kit/best-ms.ts'
import { withFirstStart } from '../kit/template.ts'
import { send } from './client.ts'
import { begin, type Command, newHome, processesWith, ROOT, stopCommands } from './command.ts'
import { startHost } from './host.ts'
import { isAlive, until } from './until.ts'

const isLinux = process.platform === 'linux'

/** Ways to keep a worker busy. The isolate can end the first; the others only end with the process. */
const HANDLERS = `
  async list_accounts(request) {
    switch (request.custom_attributes?.[0]) {
      case 'spin': for (;;);
      case 'native': for (;;) [].indexOf.call({ length: 2 ** 53 - 1 }, 1)
      case 'wait': await new Promise(() => {})
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    return [{ integration_specific_id: request.custom_attributes?.[0] ?? 'none' }]
  },`

let home: string
beforeAll(async () => {
  home = await newHome()
  await withFirstStart(path.join(home, 'data'))
  for (const id of ['busy', 'stuck', 'native', 'waiting']) {
    const folder = path.join(home, 'plugins', id)
    await mkdir(folder, { recursive: true })
    const limits = { deadline_ms: 3000, concurrency: 32 }
    await writeFile(path.join(folder, 'connector.json'), JSON.stringify(manifest(id, { limits })))
    await writeFile(path.join(folder, 'connector.ts'), code(HANDLERS))
  }
})
afterAll(stopCommands)

async function start(): Promise<{ command: Command; call: ReturnType<typeof callerOf> }> {
  const env = {
    PORT: '0',
    KEYWAY_DATA_DIR: path.join(home, 'data'),
    KEYWAY_PLUGINS_DIR: path.join(home, 'plugins'),
  }
  const command = begin(['start'], { env })
  const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
  await command.prints(/"msg":"ready"/)
  return { command, call: callerOf(url) }
}

/**
 * The outcome of a call: its account's id, an error code, or `refused` if the host accepted no more calls.
 */
function callerOf(url: string) {
  return (agent: Agent, id: string, what: string): Promise<string> =>
    new Promise((resolve) => {
      let sent = false
      const outgoing = request(
        `${url}/connectors/${id}/list_accounts`,
        { agent, method: 'POST', headers: { 'content-type': 'application/json' } },
        (incoming) => {
          let text = ''
          incoming.on('data', (chunk: Buffer) => {
            text += chunk.toString('utf8')
          })
          incoming.on('error', () => resolve('cut off in its answer'))
          incoming.on('end', () => {
            const { response, error } = JSON.parse(text)
            resolve(error ? error.error_code : response[0].integration_specific_id)
          })
        },
      )
      outgoing.on('socket', (socket) => {
        sent = !socket.connecting && !outgoing.reusedSocket
        if (socket.connecting)
          socket.once('connect', () => {
            sent = true
          })
      })
      // The host may have closed an idle connection before it read anything.
      outgoing.on('error', (error: NodeJS.ErrnoException) =>
        resolve(sent && error.code !== 'ECONNREFUSED' ? `lost: ${error.code}` : 'refused'),
      )
      outgoing.end(JSON.stringify(withToken({ custom_attributes: [what] })))
    })
}

test('a host under load and with stuck isolates completes accepted calls in time when it stops', async () => {
  // The last call's deadline is 3 s; the bound without that is half a minute.
  const boundMs = 15_000
  expect(await bestMs(boundMs, stopUnderLoad)).toBeLessThan(boundMs)
})

/** Stops a busy host, and returns how long that took, in milliseconds. */
async function stopUnderLoad(): Promise<number> {
  const { command, call } = await start()
  const agent = new Agent({ keepAlive: true })
  const ends: string[] = []
  let asked = 0
  /** Sends calls one after the other, on a connection that is never idle for long, until the host is gone. */
  const caller = async (): Promise<void> => {
    for (;;) {
      asked += 1
      const what = `call-${asked}`
      const end = await call(agent, 'busy', what)
      if (end === 'refused') return
      ends.push(end === what ? 'answered' : end)
    }
  }
  expect(await call(agent, 'stuck', 'warm')).toBe('warm')
  expect(await call(agent, 'native', 'warm')).toBe('warm')
  const callers = Array.from({ length: 16 }, caller)
  await until('calls are answered', () => ends.length > 100)
  const stuck = [
    call(agent, 'stuck', 'spin'),
    call(agent, 'native', 'native'),
    call(agent, 'waiting', 'wait'),
  ]
  await new Promise((resolve) => setTimeout(resolve, 300))
  const signalledMs = performance.now()
  command.kill('SIGTERM')
  expect(await Promise.all(stuck)).toEqual([
    'request_timeout',
    'request_timeout',
    'request_timeout',
  ])
  await Promise.all(callers)
  expect(await command.ended).toEqual({ code: 0, signal: null })
  const tookMs = performance.now() - signalledMs
  expect([...new Set(ends)]).toEqual(['answered'])
  // Killed workers disappear after a moment.
  if (isLinux)
    await until('no process is left', () => processesWith(path.join(home, 'data')).length === 0)
  agent.destroy()
  return tookMs
}

test('a call that takes longer than the host waits gets an error, and is not cut off', async () => {
  const host = await startHost({
    connectors: { waiting: path.join(home, 'plugins', 'waiting') },
    drainMs: 300,
  })
  const agent = new Agent({ keepAlive: true })
  const call = callerOf(host.url)
  expect(await call(agent, 'waiting', 'warm')).toBe('warm')
  const waiting = call(agent, 'waiting', 'wait')
  await until('the call runs', () => host.host.lanes.states()[0]?.calls === 1)
  await host.stop()
  expect(await waiting).toBe('service_error')
  agent.destroy()
})

test.runIf(isLinux)(
  'after Ctrl-C, which the whole process group receives, the database outlives the last call',
  async () => {
    const { command, call } = await start()
    const agent = new Agent({ keepAlive: true })
    expect(await call(agent, 'waiting', 'warm')).toBe('warm')
    const waiting = call(agent, 'waiting', 'wait')
    await new Promise((resolve) => setTimeout(resolve, 300))
    const family = familyOf(command.pid).map(({ pid }) => pid)
    const databases = processesWith('unix_socket_directories=').filter((pid) =>
      family.includes(pid),
    )
    expect(databases).toHaveLength(1)
    command.killGroup('SIGINT')
    await command.prints(/running calls are answered first/)
    expect(await waiting).toBe('request_timeout')
    expect(databases.filter(isAlive)).toEqual(databases)
    expect(await command.ended).toEqual({ code: 0, signal: null })
    expect(processesWith(path.join(home, 'data'))).toEqual([])
    agent.destroy()
  },
)

test.runIf(isLinux)('no worker outlives a killed host, whatever runs in it', async () => {
  const { command, call } = await start()
  const agent = new Agent({ keepAlive: true })
  for (const id of ['busy', 'stuck', 'native', 'waiting'])
    expect(await call(agent, id, 'warm')).toBe('warm')
  const calls = [
    call(agent, 'stuck', 'spin'),
    call(agent, 'native', 'native'),
    call(agent, 'waiting', 'wait'),
  ]
  const mine = processesWith(path.join(home, 'data')).filter((pid) => pid !== command.pid)
  expect(mine.length).toBeGreaterThanOrEqual(4)
  // A stopped process reacts to no signal except SIGKILL.
  const [stopped = 0] = processesWith('/run/worker-').filter((pid) => mine.includes(pid))
  process.kill(stopped, 'SIGSTOP')
  command.kill('SIGKILL')
  await until('all processes have ended', () => mine.every((pid) => !isAlive(pid)))
  expect(processesWith(path.join(home, 'data'))).toEqual([])
  await Promise.all(calls)
  agent.destroy()
})

/** npm's ways to start a host. Each adds a shell in between, which passes on no signals. */
const LAUNCHES: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['npm', ['start', '--ignore-scripts']],
  ['npx', ['--no-install', 'keyway', 'start']],
]

describe.skipIf(!isLinux || spawnSync('npm', ['--version']).error !== undefined)(
  `a host started by npm${isLinux ? '' : ' (needs Linux)'}`,
  () => {
    test.each(LAUNCHES)(
      'leaves no process behind when it is stopped: %s %j',
      async (name, args) => {
        const folder = await newHome()
        const data = await withFirstStart(path.join(folder, 'data'))
        await mkdir(path.join(folder, 'node_modules', '.bin'), { recursive: true })
        const { bin, scripts } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'))
        const file = path.join(ROOT, bin.keyway)
        await symlink(file, path.join(folder, 'node_modules', '.bin', 'keyway'))
        const start = scripts.start.replace(bin.keyway, file)
        expect(start).toContain(file)
        await writeFile(path.join(folder, 'package.json'), JSON.stringify({ scripts: { start } }))
        const command = begin(args as string[], {
          program: name,
          cwd: folder,
          env: { PORT: '0', KEYWAY_DATA_DIR: data, KEYWAY_PLUGINS_DIR: path.join(folder, 'none') },
        })
        const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
        await command.prints(/"msg":"ready"/)
        await until(
          'the database is ready',
          async () => (await send(`${url}/readyz`, {})).status === 200,
        )
        const pids = familyOf(command.pid).map(({ pid }) => pid)
        // npm, its shell, the host and the processes of PostgreSQL.
        expect(pids.length).toBeGreaterThan(5)
        command.kill('SIGTERM')
        await command.ended
        await until('all processes have ended', () => !pids.some(isAlive))
        await expect(send(`${url}/healthz`, {})).rejects.toThrow(/ECONNREFUSED/)
      },
    )
  },
)
