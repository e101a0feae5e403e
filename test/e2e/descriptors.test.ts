/**
 * Tests a host without free file descriptors: it reports errors or closes connections, and recovers when
 * descriptors are free again.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { code, manifest, withToken } from '../fixtures/folders.ts'
import { withFirstStart } from '../kit/template.ts'
import { begin, type Command, newHome, stopCommands } from './command.ts'
import { isAlive, until } from './until.ts'

const isLinux = process.platform === 'linux'
const GREETING = 'async list_accounts() { return [{ integration_specific_id: "hello" }] },'

let command: Command
let url: URL
/** One reused connection, so that a call needs no additional descriptor. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

beforeAll(async () => {
  const home = await newHome()
  for (const id of ['warm', 'cold']) {
    const folder = path.join(home, 'plugins', id)
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, 'connector.json'), JSON.stringify(manifest(id)))
    await writeFile(path.join(folder, 'connector.ts'), code(GREETING))
  }
  const env = {
    PORT: '0',
    KEYWAY_DATA_DIR: await withFirstStart(path.join(home, 'data')),
    KEYWAY_PLUGINS_DIR: path.join(home, 'plugins'),
  }
  command = begin(['start'], { env })
  url = new URL((await command.prints(/"url":"([^"]+)"/))[1] as string)
  await command.prints(/"msg":"ready"/)
  await until('the database is ready', async () => (await get('/readyz')).includes('"ready":true'))
})
afterAll(async () => {
  agent.destroy()
  await stopCommands()
})

function send(at: string, body: string | null): Promise<string> {
  const headers = body === null ? {} : { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(at, url),
      { agent, method: body === null ? 'GET' : 'POST', headers },
      (incoming) => {
        let text = ''
        incoming.on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8')
        })
        incoming.on('end', () => resolve(text))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body ?? undefined)
  })
}

const get = (at: string) => send(at, null)

/** The answer of a connector: its account, or the error code. */
async function ask(id: string): Promise<string> {
  const text = await send(`/connectors/${id}/list_accounts`, JSON.stringify(withToken()))
  const { response, error } = JSON.parse(text)
  return error ? error.error_code : response[0].integration_specific_id
}

const open = () => readdirSync(`/proc/${command.pid}/fd`).length

/**
 * Limits the host to this number of descriptors in addition to the open ones; without a number, removes the
 * limit.
 */
function leave(more?: number): void {
  const limit = more === undefined ? 4096 : open() + more
  execFileSync('prlimit', ['--pid', String(command.pid), `--nofile=${limit}:`])
}

const workers = () =>
  readFileSync(`/proc/${command.pid}/task/${command.pid}/children`, 'latin1')
    .trim()
    .split(' ')
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('/run/worker-')
      } catch {
        // The process has ended in between.
        return false
      }
    })

test.runIf(isLinux)(
  'a flood of connections is closed, existing connections continue, and freed descriptors are reused',
  async () => {
    expect(await ask('warm')).toBe('hello')
    leave(8)
    const flood: Socket[] = []
    let closed = 0
    for (let n = 0; n < 30; n += 1) {
      const socket = connect(Number(url.port), url.hostname)
      socket.on('error', () => {})
      socket.on('close', () => {
        closed += 1
      })
      flood.push(socket)
    }
    // As many as there are descriptors stay open.
    await until('the other connections are closed', () => closed >= 20)
    expect(await ask('warm')).toBe('hello')
    expect(await ask('cold')).toBe('service_error')
    expect(await get('/healthz')).toContain('ok')
    for (const socket of flood) socket.destroy()
    leave()
    await until('the host serves again', async () => (await ask('cold')) === 'hello')
    expect(command.output()).not.toContain('internal')
  },
)

test.runIf(isLinux)(
  'a call whose worker cannot be started fails with service_error, and the worker starts later',
  async () => {
    expect(await ask('warm')).toBe('hello')
    expect(await ask('cold')).toBe('hello')
    const before = workers()
    for (const pid of before) process.kill(pid, 'SIGKILL')
    await until('the workers have ended', () => before.every((pid) => !isAlive(pid)))
    await until('the host lists no workers', () => workers().length === 0)
    leave(0)
    expect(await ask('warm')).toBe('service_error')
    expect(await ask('cold')).toBe('service_error')
    expect(await get('/metrics')).toMatch(/keyway_worker_ends_total\{reason="unstarted"\} [2-9]/)
    leave()
    await until('the connector answers', async () => (await ask('warm')) === 'hello')
    expect(await ask('cold')).toBe('hello')
    command.kill('SIGTERM')
    expect(await command.ended).toEqual({ code: 0, signal: null })
  },
)
