/**
 * A host is killed at every step of an install, seen from the database: in front of the statement, and when
 * it has gone through. What is installed is then one whole generation, and the next start needs no help.
 */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createConnection, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmbeddedDatabase, startEmbedded } from '../../runtime/database/embedded.ts'
import { forgetDatabase } from '../database/forget.ts'
import { send } from '../e2e/client.ts'
import { begin, type Command, newHome, stopCommands } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { type Made, packaged } from './packaging.ts'

const TOKEN = `lsk_${'killed'.repeat(7)}`
const PASSWORD = 'p'.repeat(40)
const shared = mkdtempSync(path.join(tmpdir(), 'keyway-killed-'))

let database: EmbeddedDatabase
let front: Server
let home: string
/** What the host is killed at: a word of a statement, before or after the database has it. */
let deadly: { word: string; when: 'before' | 'after' } | null = null
let host: { command: Command; url: string } | null = null

beforeAll(async () => {
  database = await startEmbedded({
    dataDir: shared,
    password: PASSWORD,
    tell: () => {},
    onLine: () => {},
  })
  const behind = path.join(String(database.connection.host), '.s.PGSQL.5432')
  front = createServer((caller) => {
    const upstream = createConnection(behind)
    const end = () => {
      caller.destroy()
      upstream.destroy()
    }
    for (const socket of [caller, upstream]) socket.on('error', end).on('close', end)
    caller.on('data', (chunk) => {
      const isDeadly = deadly !== null && chunk.includes(deadly.word)
      if (!isDeadly || deadly?.when === 'after') upstream.write(chunk)
      if (!isDeadly) return
      if (deadly?.when === 'before') host?.command.kill('SIGKILL')
      // Its answer shows that the database has done it.
      else upstream.once('data', () => host?.command.kill('SIGKILL'))
      deadly = null
    })
    upstream.on('data', (chunk) => caller.write(chunk))
  })
  await new Promise<void>((resolve) => front.listen(path.join(shared, '.s.PGSQL.5432'), resolve))
  home = await newHome()
})
afterAll(async () => {
  await stopCommands()
  front.close()
  await database.stop()
  await forgetDatabase(shared)
  await rm(shared, { recursive: true, force: true })
})

async function start(): Promise<void> {
  const command = begin(['start'], {
    env: {
      PORT: '0',
      DATABASE_URL: `postgres://keyway:${PASSWORD}@/keyway?host=${shared}`,
      KEYWAY_DATA_DIR: path.join(home, 'data'),
      KEYWAY_ADMIN_TOKEN: TOKEN,
      KEYWAY_INSTALL: 'any',
      KEYWAY_DROP_IN: 'off',
    },
  })
  const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
  await until('it is ready', async () => (await send(`${url}/readyz`, {})).status === 200, 60_000)
  host = { command, url }
}

async function operate(method: string, at: string, body?: object | Buffer) {
  const isPackage = Buffer.isBuffer(body)
  const { status, text } = await send(`${host?.url}/operator${at}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body ? { 'content-type': isPackage ? 'application/gzip' : 'application/json' } : {}),
    },
    ...(body ? { body: isPackage ? body : JSON.stringify(body) } : {}),
  })
  return { status, body: JSON.parse(text) }
}

async function install({ packed, digest }: Made): Promise<void> {
  const uploaded = await operate('POST', '/packages', packed)
  if (uploaded.status !== 201) throw new Error(JSON.stringify(uploaded.body))
  const activated = await operate('POST', '/connectors/acme/activate', { digest, grant: 'all' })
  if (activated.status !== 200) throw new Error(JSON.stringify(activated.body))
}

/** The version that answers; null for none. */
async function answering(): Promise<string | null> {
  const { headers, text } = await send(`${host?.url}/connectors/acme/validate_credentials`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ request: {}, auth: { token: { token: 'a-token' } }, settings: {} }),
  })
  return JSON.parse(text).is_error ? null : String(headers['x-keyway-connector'])
}

/** What is installed, after seeing that it is whole. */
async function whole() {
  const { body: newest } = await operate('GET', '/generations/newest')
  const { body: told } = await operate('GET', '/generations?limit=100')
  expect(told.items.map(({ generation }: { generation: number }) => generation)).toEqual(
    Array.from({ length: newest.generation }, (_, index) => newest.generation - index),
  )
  const acme = newest.statement.connectors.acme
  const serves = acme?.versions.find(({ digest }: { digest: string }) => digest === acme.active)
  expect(await answering()).toBe(serves ? `acme@${serves.version}` : null)
  return newest
}

const WORDS = [
  '"packages"',
  '"installed_states"',
  '"generations"',
  'activity_logs',
  'pg_notify',
  'commit',
]
const STEPS = WORDS.flatMap((word) => [
  [word, 'before' as const],
  [word, 'after' as const],
]) as [string, 'before' | 'after'][]

test('an install that is killed anywhere leaves one whole generation, and can be done again', async () => {
  for (const [index, [word, when]] of STEPS.entries()) {
    await start()
    const before = await whole()
    const made = await packaged({ version: `1.${index}.0` })
    // Every other one is killed while it is activated, the others while they are uploaded.
    const isLate = index % 2 === 1 && word !== '"packages"'
    if (isLate) await operate('POST', '/packages', made.packed)
    const kept = isLate ? await whole() : before
    deadly = { word, when }
    await install(made).catch(() => undefined)
    expect(await host?.command.ended, `${when} ${word}`).toMatchObject({ signal: 'SIGKILL' })

    await start()
    const after = await whole()
    expect([0, 1], `${when} ${word}`).toContain(after.generation - kept.generation)
    await install(made)
    expect(await answering()).toBe(`acme@1.${index}.0`)
    host?.command.kill('SIGTERM')
    await host?.command.ended
  }
}, 180_000)
