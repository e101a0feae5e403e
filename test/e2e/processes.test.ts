/**
 * One host with two processes on one port: both give the same answers, and a process that dies is replaced.
 */
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { familyOf } from '../../runtime/verify/processes.ts'
import { LISTING, packaged } from '../connectors/lifecycle/packaging.ts'
import { BUILT_IN } from '../kit/built-in.ts'
import { withFirstStart } from '../kit/template.ts'
import { begin, type Command, newHome, processesWith, run, stopCommands } from './command.ts'
import { isAlive, until } from './until.ts'

const TOKEN = `lsk_${'processes'.repeat(5)}`
const LIST = { auth: { token: { token: 'a-token' } }, request: {}, page: { size: 5 } }
/** Connections are distributed round robin: with this number, each process has some. */
const CONNECTIONS = 8

let home: string
let dataDir: string
let url: string
let env: Record<string, string>
let host: Command

/** Sends one request over a separate connection. */
function ask(at: string, body?: object): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
    const outgoing = request(url + at, { agent, method: body ? 'POST' : 'GET', headers })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
    })
    outgoing.end(body && JSON.stringify(body))
  })
}

/** The same over several connections at once. */
const askAll = (at: string, body?: object) =>
  Promise.all(Array.from({ length: CONNECTIONS }, () => ask(at, body)))

const readyz = async () => JSON.parse((await ask('/readyz')).text)

const bothServe = () =>
  until(
    'both processes serve',
    async () => (await readyz()).processes?.serving === 2 && (await readyz()).ready,
    90_000,
  )

/** The serving processes that are alive, as named in the log. */
const members = (): number[] =>
  [...host.output().matchAll(/"pid":(\d+),"serving"/g)]
    .map(([, pid]) => Number(pid))
    .filter(isAlive)

/** Worker processes of a serving process. */
const workersOf = (pid: number): number[] =>
  familyOf(pid)
    .filter((one) => one.pid !== pid)
    .filter((one) => readFileSync(`/proc/${one.pid}/cmdline`, 'latin1').includes('/run/worker-'))
    .map((one) => one.pid)

/** The value of a counter, summed over the rows with a label. */
async function counted(name: string, label: string): Promise<number> {
  const { text } = await ask('/metrics')
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** The versions of the connector that answered. */
const versions = async (): Promise<Set<string>> => {
  const answers = await askAll('/connectors/acme/list_accounts', LIST)
  return new Set(
    answers.map(({ status, text }) =>
      status === 200 ? (JSON.parse(text).response?.[0]?.given_name ?? text) : `${status} ${text}`,
    ),
  )
}

async function keyway(...args: string[]): Promise<void> {
  const { code, output } = await run(args, { env })
  expect(code, output).toBe(0)
}

async function saved(version: string): Promise<string> {
  const made = await packaged({ version }, LISTING(version))
  const file = path.join(home, `acme-${version}.tgz`)
  await writeFile(file, made.packed)
  return file
}

beforeAll(async () => {
  home = await newHome()
  dataDir = await withFirstStart(path.join(home, 'data'))
  env = {
    PORT: '0',
    KEYWAY_PROCESSES: '2',
    // Workers are counted below.
    KEYWAY_SPARE_WORKER: '0',
    KEYWAY_DATA_DIR: dataDir,
    KEYWAY_PLUGINS_DIR: path.join(home, 'plugins'),
    KEYWAY_ADMIN_TOKEN: TOKEN,
    KEYWAY_REQUESTS_PER_MINUTE: '1000000',
  }
  host = begin(['start'], { env })
  const [, found = ''] = await host.prints(/"url":"([^"]+)"/)
  url = found
  env['PORT'] = new URL(url).port
  await bothServe()
})
afterAll(stopCommands)

test('both processes serve a connector once it is installed, upgraded or rolled back', async () => {
  await keyway('install', await saved('1.0.0'), '--grant-all')
  expect(await versions()).toEqual(new Set(['1.0.0']))
  const { generation } = await readyz()
  const pids = members()
  expect(pids).toHaveLength(2)
  expect(pids.map((pid) => workersOf(pid).length)).toEqual([1, 1])
  await keyway('upgrade', await saved('1.1.0'), '--grant-all')
  expect(await versions()).toEqual(new Set(['1.1.0']))
  await keyway('rollback', String(generation))
  expect(await versions()).toEqual(new Set(['1.0.0']))
})

test('metrics cover both processes, whichever of them is asked', async () => {
  const label = 'connector="acme",capability="list_accounts"'
  const before = await counted('keyway_calls_total', label)
  await versions()
  const after = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => counted('keyway_calls_total', label)),
  )
  expect(new Set(after)).toEqual(new Set([before + CONNECTIONS]))
  const { text } = await ask('/metrics')
  // Values that both read from one database are reported once.
  const connectors = BUILT_IN.length + 1
  expect(text.match(/^keyway_connectors .*$/gm)).toEqual([`keyway_connectors ${connectors}`])
  expect(text).toMatch(/^keyway_lanes 2$/m)
})

test('the latest calls cover both processes, newest first, whichever of them is asked', async () => {
  await versions()
  const answers = await askAll(`/operator/calls?connector_id=acme&limit=${CONNECTIONS}`)
  const ids = answers.map(({ text }) =>
    JSON.parse(text).items.map((one: { request_id: string }) => one.request_id),
  )
  expect(ids[0]).toHaveLength(CONNECTIONS)
  expect(new Set(ids.map((one) => one.join()))).toHaveLength(1)
  const { items } = JSON.parse((await ask('/operator/calls?connector_id=acme')).text)
  const times = items.map((one: { at: string }) => one.at)
  expect(times).toEqual(times.toSorted().reverse())
  expect(times.length).toBeGreaterThan(CONNECTIONS)
})

test('a killed process is replaced while the other one serves', async () => {
  const [first = 0, second = 0] = members()
  process.kill(second, 'SIGKILL')
  await host.prints(/another takes its place/)
  // The other process keeps serving.
  expect(await versions()).toEqual(new Set(['1.0.0']))
  await until('another process serves', () => members().length === 2)
  await bothServe()
  expect(members()).toContain(first)
  expect(members()).not.toContain(second)
  expect(await versions()).toEqual(new Set(['1.0.0']))
  expect(members().map((pid) => workersOf(pid).length)).toEqual([1, 1])
})

test('a second host of the same data directory is refused, and names the process that uses it', async () => {
  const { code, output } = await run(['start'], { env: { ...env, PORT: '0' } })
  expect(code).toBe(1)
  expect(output).toContain(`is used by the process ${host.pid}`)
})

test('a taken port ends the start with a message about PORT', async () => {
  const other = { ...env, KEYWAY_DATA_DIR: path.join(home, 'other') }
  const { code, output } = await run(['start'], { env: other })
  expect(code).toBe(1)
  expect(output).toMatch(/PORT: .* is used by another program/)
})

test('SIGTERM ends all processes', async () => {
  const pids = [...members(), ...members().flatMap(workersOf)]
  expect(pids).toHaveLength(4)
  host.kill('SIGTERM')
  expect(await host.ended).toEqual({ code: 0, signal: null })
  await until('all processes have ended', () =>
    [...pids, ...processesWith(dataDir)].every((pid) => !isAlive(pid)),
  )
})
