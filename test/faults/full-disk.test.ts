/**
 * Tests a host with its own database on a disk that is really full: while it runs, starts, and is backed up.
 */
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { send } from '../e2e/client.ts'
import { begin, type Command, run, stopCommands } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

const TOKEN = `lsk_${'full'.repeat(10)}`
const OLD = 'secret-of-the-beginning-'.repeat(2)
const NEW = 'secret-that-comes-after-'.repeat(2)

let home: string
let dataDir: string
let disk: SmallDisk | null = null
let host: { url: string; command: Command }

const env = (secrets = OLD) => ({
  KEYWAY_DATA_DIR: dataDir,
  KEYWAY_SECRET: secrets,
  KEYWAY_ADMIN_TOKEN: TOKEN,
  KEYWAY_DROP_IN: 'off',
  PORT: '0',
})

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'keyway-full-'))
  // The database server's user must be able to enter the folder, so that its database is on the disk.
  await chmod(home, 0o711)
  disk = await mountSmallDisk(path.join(home, 'disk'))
  dataDir = path.join(home, 'disk', 'data')
})
afterAll(async () => {
  host?.command.kill('SIGTERM')
  await host?.command.ended
  await stopCommands()
  await disk?.remove()
  await rm(home, { recursive: true, force: true, maxRetries: 10 })
})

async function start(secrets: string): Promise<typeof host> {
  const command = begin(['start'], { env: env(secrets) })
  const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
  return { url, command }
}
const ready = () =>
  until(
    'the host is ready',
    async () => (await send(`${host.url}/readyz`, {})).status === 200,
    120_000,
  )

const call = (method: string, target: string, body?: object) =>
  send(host.url + target, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
/** The number of apps whose names match. */
const appsLike = async (name: string): Promise<number> =>
  JSON.parse((await call('GET', `/apps?size=1&name_search=${encodeURIComponent(name)}`)).text).total
const made: string[] = []
/** Creates an app, and returns the status and the message. */
async function make(name: string): Promise<{ status: number; text: string }> {
  const reply = await call('POST', '/apps', {
    name,
    category: 'Other',
    description: 'x'.repeat(500),
  }).catch(() => ({
    status: 0,
    text: 'no answer',
  }))
  if (reply.status < 300 && reply.status > 0) made.push(name)
  return reply
}

test('a full disk loses no acknowledged write, refuses others with a reason, and recovers by itself', async (context) => {
  if (disk === null) return context.skip()
  host = await start(OLD)
  await ready()
  for (const name of ['one', 'two']) expect((await make(name)).status).toBeLessThan(300)
  expect(existsSync(path.join(dataDir, 'postgres', 'cluster'))).toBe(true)

  const makeRoom = await disk.fill()
  // The write-ahead log has some space left: it takes a while until every write fails.
  let refused = ''
  for (let number = 0; refused === '' && number < 20_000; number += 1) {
    const { status, text } = await make(`while full ${number}`)
    if (status >= 500) refused = text
  }
  expect(refused).toMatch(/disk of Keyway is full|database is unavailable/)
  const said = await until('the host reports the full disk', async () => {
    const { status, text } = await send(`${host.url}/readyz`, {})
    return status === 503 && /room (in|on)/.test(text) && text
  })
  expect(said).toMatch(/waiting_for/)
  expect((await send(`${host.url}/healthz`, {})).status).toBe(200)

  const file = path.join(home, 'disk', 'backup.tar.gz')
  const backup = await run(['backup', file], { env: env() })
  expect(backup).toMatchObject({ code: 1, output: expect.not.stringMatching(/\n {4}at /) })
  expect(backup.output).toMatch(/full|does not answer/)
  expect((await readdir(path.dirname(file))).filter((name) => name.startsWith('backup'))).toEqual(
    [],
  )

  await makeRoom()
  // `/readyz` reports a full disk until a minute after the last refusal (test/database/full-disk.test.ts).
  await until('the host accepts changes again', async () => {
    const { status } = await make('afterwards')
    return status > 0 && status < 300
  })
  for (const name of made) expect(await appsLike(name), name).toBeGreaterThan(0)
}, 300_000)

test('a rotation that starts on a full disk continues once there is space', async (context) => {
  if (disk === null) return context.skip()
  host.command.kill('SIGTERM')
  await host.command.ended
  const makeRoom = await disk.fill()
  const refused = await run(['start'], { env: { ...env(`${NEW},${OLD}`) } }).catch(() => null)
  // A start that cannot write its lock or its worker reports that, and ends.
  expect(refused?.output).toMatch(/full|No space left|ENOSPC/)
  expect(refused?.output).not.toMatch(/\n {4}at /)
  await makeRoom()
  host = await start(`${NEW},${OLD}`)
  await ready()
  for (const name of made) expect(await appsLike(name), name).toBeGreaterThan(0)
}, 200_000)
