/**
 * Runs two hosts of one database behind the shipped HAProxy configuration. They are replaced one after the
 * other by a later version with an additional migration, while calls and access requests continue. Skipped
 * without HAProxy (Debian's `haproxy`).
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION } from '../../runtime/version.ts'
import { type BadSystem, startBadSystem } from '../core/requests/faults/bad-system.ts'
import { freePort } from '../free-port.ts'
import { openTestDatabase, type TestDatabase } from '../kit/databases.ts'
import { newFolder } from '../kit/folder.ts'
import { send } from './client.ts'
import { begin, type Command, ROOT, stopCommands } from './command.ts'
import { until } from './until.ts'

const TOKEN = `lsk_${'rolling'.repeat(8)}`
const LATER = '99.0.0'
/** Longer than HAProxy takes to notice: two checks, a second apart. */
const NOTICE_MS = 3000

const isInstalled = spawnSync('haproxy', ['-v']).error === undefined

let home: string
let database: TestDatabase
let system: BadSystem
let proxy: ChildProcess
let front: string
const ports: Record<string, number> = {}
const hosts: Record<string, Command> = {}

/** A checkout of a version with one more migration, which only adds. */
async function laterVersion(): Promise<string> {
  const folder = path.join(home, 'later')
  for (const name of [
    'runtime',
    'plugins',
    'plugin-template',
    'scripts',
    'package.json',
    'tsconfig.json',
  ])
    await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true })
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const edit = async (name: string, change: (text: string) => string) => {
    const file = path.join(folder, name)
    await writeFile(file, change(await readFile(file, 'utf8')))
  }
  await edit('package.json', (text) => text.replace(`"${VERSION}"`, `"${LATER}"`))
  const migrations = path.join('runtime', 'database', 'migrations')
  await writeFile(
    path.join(folder, migrations, '9999_later.sql'),
    `alter table users add column of_a_later_version text not null default 'x';`,
  )
  await edit(path.join(migrations, 'meta', '_journal.json'), (text) => {
    const journal = JSON.parse(text)
    const entry = { version: '7', when: 99_999_999_999_999, tag: '9999_later', breakpoints: true }
    return JSON.stringify({ ...journal, entries: [...journal.entries, { idx: 9999, ...entry }] })
  })
  return path.join(folder, 'runtime', 'cli', 'keyway.mjs')
}

const urlOf = (name: string): string => `http://127.0.0.1:${ports[name]}`

const isReady = async (url: string): Promise<boolean> =>
  (await send(`${url}/readyz`, {}).catch(() => null))?.status === 200

/** Starts a host of the checkout, or of another one. */
function start(name: string, file?: string): void {
  const env = {
    ...system.env,
    DATABASE_URL: database.url,
    KEYWAY_DATA_DIR: path.join(home, name),
    KEYWAY_SECRET: 'secret-of-all-hosts-'.repeat(3),
    KEYWAY_ADMIN_TOKEN: TOKEN,
    KEYWAY_STOP_NOTICE_MS: String(NOTICE_MS),
    PORT: String(ports[name]),
  }
  hosts[name] = begin(['start'], { env, ...(file ? { file } : {}) })
}

async function ready(name: string): Promise<void> {
  await until(`${name} is ready`, () => isReady(urlOf(name)), 90_000).catch((error: Error) => {
    throw new Error(`${error.message}\n${hosts[name]?.output().slice(-3000)}`)
  })
  // HAProxy checks once a second.
  await pause(2000)
}

async function stop(name: string): Promise<void> {
  hosts[name]?.kill('SIGTERM')
  expect(await hosts[name]?.ended).toEqual({ code: 0, signal: null })
}

async function startProxy(): Promise<string> {
  const port = await freePort()
  const shipped = await readFile(path.join(ROOT, 'scripts', 'deploy', 'haproxy.cfg'), 'utf8')
  const own = shipped
    .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
    .replaceAll(/server a .*/g, `server a 127.0.0.1:${ports['a']}`)
    .replaceAll(/server b .*/g, `server b 127.0.0.1:${ports['b']}`)
  const file = path.join(home, 'haproxy.cfg')
  await writeFile(file, own)
  proxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  await until('HAProxy forwards requests', () => isReady(url))
  return url
}

/** Failed calls, with their time. */
const failures: string[] = []
let answered = 0

/** Calls through the proxy; a failure is recorded and returns null. */
async function call(method: string, target: string, body?: object) {
  const headers = {
    ...(target.startsWith('/connectors') ? {} : { authorization: `Bearer ${TOKEN}` }),
    ...(body ? { 'content-type': 'application/json' } : {}),
  }
  const sent = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
  const reply = await send(front + target, sent).catch((error: Error) => error)
  if (reply instanceof Error || reply.status >= 400) {
    const why = reply instanceof Error ? reply.message : `${reply.status} ${reply.text}`
    failures.push(`${new Date().toISOString()} ${method} ${target}: ${why.slice(0, 300)}`)
    return null
  }
  answered += 1
  return reply.text === '' ? {} : JSON.parse(reply.text)
}

let people = 0
const completed: string[] = []

/** Requests access, approves it, and waits until it is granted. */
async function ask(appId: string): Promise<void> {
  people += 1
  const email = `person-${people}@acme.example`
  const found = await call('GET', `/users?search_term=${encodeURIComponent(email)}`)
  const body = { app_id: appId, requester_user_id: found?.items?.[0]?.id, note: 'needed' }
  const made = await call('POST', '/appstore/access_request', body)
  const id = made?.[0]?.id
  if (!id) return
  const tasks = await call(
    'GET',
    `/tasks?show_all_tasks=true&access_request_id=${id}&status=PENDING`,
  )
  await call('POST', `/tasks/${tasks?.items?.[0]?.id}/complete`)
  await until(`${email} has it`, async () => {
    await pause(200)
    return (await call('GET', `/appstore/access_requests/${id}`))?.status === 'COMPLETED'
  })
  completed.push(email)
}

/** Waits until more than this number of requests are completed. */
const moreThan = (number: number) =>
  until('more requests are completed', () => {
    if (failures.length > 0) throw new Error(failures.slice(0, 10).join('\n'))
    return completed.length > number
  })

describe.skipIf(!isInstalled)('behind HAProxy', () => {
  beforeAll(async () => {
    home = newFolder('rolling')
    database = await openTestDatabase()
    system = await startBadSystem()
    for (const name of ['a', 'b']) ports[name] = await freePort()
    for (const name of ['a', 'b']) start(name)
    for (const name of ['a', 'b']) await ready(name)
    front = await startProxy()
    const client = new Client(database.login)
    await client.connect()
    await client.query(
      `insert into users (domain_id, email, given_name) select d.id, 'person-' || n || '@acme.example', 'P'
       from domains d, generate_series(1, 500) n`,
    )
    await client.end()
  })
  afterAll(async () => {
    proxy?.kill('SIGKILL')
    await stopCommands()
    await system?.close()
    await database?.drop()
    await rm(home, { recursive: true, force: true, maxRetries: 10 })
  })

  test('two hosts are replaced by a later version without a failed call', async () => {
    const later = await laterVersion()
    const { id: appId } = await call('POST', '/apps', system.app)
    await call('POST', '/appstore/apps', { app_id: appId })
    const over = new AbortController()
    const again = async (does: () => Promise<unknown>) => {
      while (!over.signal.aborted) {
        await does()
        await pause(40)
      }
    }
    const { auth, settings } = system.app
    const envelope = { auth: { token: auth }, settings, request: {} }
    const load = Promise.all([
      ...Array.from({ length: 3 }, () =>
        again(() => call('POST', '/connectors/bad/list_accounts', envelope)),
      ),
      again(() => call('GET', '/users/current')),
      again(() => ask(appId)),
    ])

    await stop('a')
    start('a', later)
    await ready('a')
    // The earlier version continues next to it until it is restarted.
    const [before, now] = [completed.length, answered]
    await moreThan(before + 2)
    expect(answered).toBeGreaterThan(now)
    const own = { authorization: `Bearer ${TOKEN}` }
    expect((await send(`${urlOf('b')}/users/current`, { headers: own })).status).toBe(200)
    expect(await isReady(urlOf('b'))).toBe(true)

    await stop('b')
    start('b')
    const refused = await until('the host reports why it does not serve', async () => {
      const reply = await send(`${urlOf('b')}/readyz`, {}).catch(() => null)
      return reply && /newer than this version/.test(reply.text) ? reply : null
    })
    expect(refused.status).toBe(503)
    expect(refused.text).toContain(`Keyway ${LATER}, which is newer than this version, ${VERSION}`)
    await stop('b')
    start('b', later)
    await ready('b')
    const last = completed.length
    await moreThan(last + 1)
    over.abort()
    await load

    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(100)
    for (const email of completed) expect(system.accountsOf(email)).toHaveLength(1)
  }, 300_000)
})
