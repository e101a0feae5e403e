import { rm } from 'node:fs/promises'
import path from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packages } from '../../../runtime/database/schema/lifecycle.ts'
import { type CoreHost, startCore } from '../../core/host.ts'
import { operator } from './operator.ts'
import { packaged, publisher } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>

beforeAll(async () => {
  core = await startCore()
  op = operator(core)
})
afterAll(() => core.stop())

/** Deletes the package from the disk and from the database. */
async function lose(digest: string): Promise<void> {
  await core.db.delete(packages).where(eq(packages.digest, digest))
  await rm(path.join(core.dataDir, 'installed', 'connectors'), { recursive: true })
}

test('a stored package that cannot be read is shown, and does not block other changes', async () => {
  const lost = await packaged({ version: '1.0.0' })
  await op.install(lost)
  const other = await packaged({ id: 'other' })
  const { body: at } = await op.install(other)
  await lose(lost.digest)

  expect((await op.call('GET', '/connectors/acme')).status).toBe(200)
  expect((await op.call('POST', '/connectors/other/disable', {})).status).toBe(200)
  const back = await op.call('POST', '/rollback', { to: at.generation })
  expect([back.status, back.body.difference]).toEqual([200, ['other: enabled']])

  const next = await packaged({ version: '1.1.0' })
  await op.install(next)
  expect((await op.call('GET', '/connectors/acme')).body.active).toBe(next.digest)
  const again = await op.activate(lost, { allow_downgrade: true })
  expect([again.status, again.body.error.message]).toEqual([
    409,
    expect.stringMatching(/^acme [0-9a-f]{12} cannot be used: .* install it again$/),
  ])
})

test('a rollback keeps the revocations of a connector that it does not change', async () => {
  const held = await packaged({ id: 'held' })
  await op.install(held)
  const wants = ['capability list_accounts']
  const one = await packaged({ id: 'moved' })
  const { body: at } = await op.install(one)
  await op.install(await packaged({ id: 'moved', version: '1.1.0' }))
  await op.call('POST', '/connectors/held/revoke', { wants })
  const { status, body } = await op.call('POST', '/rollback', { to: at.generation })
  expect([status, body.difference]).toEqual([200, ['moved: 1.1.0 → 1.0.0']])
  const { body: shown } = await op.call('GET', '/connectors/held')
  expect(shown.withheld).toEqual([expect.objectContaining({ subject: 'list_accounts' })])
})

test('the reply to a change lists what the host cannot serve', async () => {
  await op.trustPublisher()
  const signed = await packaged({ id: 'signed' })
  await op.install(signed)
  const { body } = await op.call('DELETE', `/publishers/${publisher.id}`)
  expect(body.problems).toContainEqual(
    expect.stringMatching(/^signed 1\.0\.0: its signature is invalid/),
  )
})
