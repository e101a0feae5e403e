/**
 * Kills the whole host at random moments while callers write: every acknowledged write is kept, the next
 * start recovers by itself, and no process remains. `KILLS=100` runs more rounds.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyActivity } from '../../runtime/core/kernel/audit/chain.ts'
import { chainWaiting } from '../../runtime/core/kernel/audit/unchained-entries.ts'
import { homeOf } from '../../runtime/database/server-home.ts'
import { withFirstStart } from '../kit/template.ts'
import { send } from './client.ts'
import { begin, type Command, newHome, processesWith, stopCommands } from './command.ts'
import { isAlive, until } from './until.ts'

const KILLS = Number(process.env['KILLS'] ?? 3)
/** Writers of each kind. */
const WRITERS = 4
const TOKEN = `lsk_${'kill'.repeat(10)}`

let dataDir: string
let cluster: string
let env: Record<string, string>
let taskId: string
/** Acknowledged comments. */
const comments: string[] = []
/** Number of acknowledged role changes, by user. */
const logged = new Map<string, number>()
let answered = 0

beforeAll(async () => {
  const home = await newHome()
  dataDir = await withFirstStart(path.join(home, 'data'))
  env = {
    PORT: '0',
    KEYWAY_DATA_DIR: dataDir,
    KEYWAY_DROP_IN: 'off',
    KEYWAY_ADMIN_TOKEN: TOKEN,
    KEYWAY_REQUESTS_PER_MINUTE: '1000000',
  }
})
afterAll(stopCommands)

type Running = { command: Command; url: string; readyMs: number }

async function start(): Promise<Running> {
  const beganMs = performance.now()
  const command = begin(['start'], { env })
  const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
  await until('the host is ready', async () => (await send(`${url}/readyz`, {})).status === 200)
  // Only known once the database exists.
  cluster = homeOf(dataDir).cluster
  return { command, url, readyMs: performance.now() - beganMs }
}

/** The login of the owner of the running host's database. */
function login() {
  const password = readFileSync(path.join(dataDir, 'database-password'), 'utf8').trim()
  return { host: homeOf(dataDir).socket, user: 'keyway', database: 'keyway', password }
}

async function ask(sql: string) {
  const client = new Client(login())
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Sends writes one after the other until the host is gone, and records those that were acknowledged. */
async function write(
  url: string,
  next: (n: number) => { method: string; at: string; body?: object; status: number },
  note: (n: number) => void,
): Promise<void> {
  for (let n = 0; ; n += 1) {
    const { method, at, body, status } = next(n)
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    let received: Awaited<ReturnType<typeof send>>
    try {
      const text = body === undefined ? {} : { body: JSON.stringify(body) }
      received = await send(url + at, { method, headers, ...text })
    } catch {
      // The host was killed: this write was not acknowledged.
      return
    }
    if (received.status !== status) throw new Error(`${received.status}: ${received.text}`)
    answered += 1
    note(n)
  }
}

/** Writes comments with unique names. */
function commenter(url: string, name: string): Promise<void> {
  const comment = (n: number) => `${name}-${n}`
  return write(
    url,
    (n) => ({
      method: 'POST',
      at: `/tasks/${taskId}/comments`,
      body: { comment: comment(n) },
      status: 201,
    }),
    (n) => comments.push(comment(n)),
  )
}

/** Grants a role and revokes it; each change is a row of the log. */
function roleChanger(url: string, userId: string): Promise<void> {
  return write(
    url,
    (n) =>
      n % 2 === 0
        ? { method: 'POST', at: `/users/${userId}/roles/Auditor`, status: 201 }
        : { method: 'DELETE', at: `/users/${userId}/roles/Auditor`, status: 204 },
    () => logged.set(userId, (logged.get(userId) ?? 0) + 1),
  )
}

async function newUser(): Promise<string> {
  const [row] = await ask(
    "insert into users (domain_id, email) select id, gen_random_uuid() || '@example.com' from domains returning id",
  )
  return row.id
}

/** Checks that every acknowledged write exists, and that the log's chain is complete. */
async function expectKept(): Promise<void> {
  const kept = new Set((await ask('select body from task_comments')).map(({ body }) => body))
  expect(comments.filter((comment) => !kept.has(comment))).toEqual([])
  const client = new Client(login())
  await client.connect()
  const [domain] = (await client.query('select id from domains')).rows
  await chainWaiting(drizzle(client), domain.id)
  expect(await verifyActivity(drizzle(client), domain.id)).toMatchObject({ broken: null })
  await client.end()
  const rows = await ask(
    "select targets->0->>'id' as id, count(*)::int as n from activity_logs group by 1",
  )
  const counts = new Map(rows.map(({ id, n }) => [id, n]))
  expect([...logged].filter(([id, n]) => (counts.get(id) ?? 0) < n)).toEqual([])
}

/** Processes of the data directory: the host, its workers, its database server and the server's processes. */
function processes(): number[] {
  const inCluster = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === cluster
      } catch {
        // The process has ended in between.
        return false
      }
    })
    .map(Number)
    .filter(isAlive)
  return [...inCluster, ...processesWith(dataDir)]
}

test.runIf(process.platform === 'linux')(
  'a killed host keeps every acknowledged write, and starts again by itself',
  async () => {
    let running = await start()
    const [task] = await ask(
      "insert into tasks (domain_id, task_type, task_category) select id, 'ACCESS', 'APPROVAL' from domains returning id",
    )
    taskId = task.id
    const readyMs: number[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { command, url } = running
      const before = processes()
      const users = await Promise.all(Array.from({ length: WRITERS }, newUser))
      const writing = Promise.all([
        ...users.map((_, n) => commenter(url, `${kill}-${n}`)),
        ...users.map((id) => roleChanger(url, id)),
      ])
      const enough = answered + 1 + Math.floor(Math.random() * 150)
      await Promise.race([writing, until('callers were answered', () => answered >= enough)])
      // A random delay, so that the kill does not always follow an answer directly.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
      command.kill('SIGKILL')
      await Promise.all([writing, command.ended])
      running = await start()
      readyMs.push(running.readyMs)
      expect(before.filter(isAlive), 'live processes of the killed host').toEqual([])
      await expectKept()
    }
    expect(comments.length).toBeGreaterThan(KILLS)
    expect(logged.size).toBeGreaterThan(KILLS)
    running.command.kill('SIGTERM')
    expect(await running.command.ended).toEqual({ code: 0, signal: null })
    expect(processes()).toEqual([])
    const sorted = readyMs.sort((a, b) => a - b).map((ms) => Math.round(ms))
    console.log(
      `${KILLS} kills, ${answered} answered writes kept; ready again in ${sorted[0]} to ${sorted.at(-1)} ms`,
    )
  },
  30_000 + KILLS * 15_000,
)
