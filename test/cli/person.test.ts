/** `keyway person export` and `keyway person erase` against a running host. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN_TOKEN, type CoreHost, type Person, person, startCore } from '../core/host.ts'
import { keyway as run } from './keyway.ts'

let core: CoreHost
let server: Server
let url: string
let ada: Person

beforeAll(async () => {
  core = await startCore()
  server = serve({ fetch: core.host.app.fetch, hostname: '127.0.0.1', port: 0 }) as Server
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  ada = await person(core.db, 'ada@acme.example')
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  await core.stop()
})

const keyway = (...args: string[]) =>
  run(['person', ...args, '--url', url], { env: { KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN } })

const email = async () => (await core.call('GET', `/users/${ada.id}`)).body.email

test('an export is JSON', async () => {
  const { code, out } = await keyway('export', 'ada@acme.example')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ person: { id: ada.id }, tables: { users: [{}] } })
})

test('an active person cannot be erased, and the error says what to do', async () => {
  const { code, err } = await keyway('erase', 'ada@acme.example', '--yes')
  expect(code).toBe(1)
  expect(err).toMatch(/cannot be erased yet: the user is ACTIVE: offboard/)
})

test('without a terminal, erase lists what it would erase, and requires --yes', async () => {
  await core.db.execute(sql`update users set status = 'INACTIVE' where id = ${ada.id}`)
  const asked = await keyway('erase', 'ada@acme.example')
  expect(asked).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /^Would be erased \(nothing was\): ada@acme\.example\n(.*\n)*Would be kept:\n/,
    ),
    err: expect.stringContaining('--yes erases without asking'),
  })
  expect(await email()).toBe('ada@acme.example')
  const done = await keyway('erase', 'ada@acme.example', '--yes')
  expect(done).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Erased: ada@acme\.example\n(.*\n)*Kept:\n/),
  })
  expect(await email()).toBe(`erased-${ada.id}@erased.invalid`)
})
