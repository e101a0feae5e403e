import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { commit } from '../../../runtime/connectors/lifecycle/generations.ts'
import { readPackage } from '../../../runtime/connectors/packages/read.ts'
import { makeKeyPair, signPackage } from '../../../runtime/connectors/packages/sign.ts'
import { publishedIndexes } from '../../../runtime/database/schema/deployment.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { type CoreHost, domainOf, startCore } from '../../core/host.ts'
import { meanwhile } from '../../core/meanwhile.ts'
import { lookAtStatements } from '../../core/statements.ts'
import { operator } from './operator.ts'
import { type Made, packaged, publisher } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>
let made: Made

beforeAll(async () => {
  core = await startCore({ KEYWAY_INSTALL: 'trusted' })
  op = operator(core)
  made = await packaged()
})
afterAll(() => core.stop())
afterEach(() => op.call('DELETE', '/connectors/acme'))

const errorOf = async (sent: ReturnType<typeof op.upload>) => {
  const { status, body } = await sent
  return [status, body.error?.message]
}

test('KEYWAY_INSTALL=trusted allows only packages that a trusted publisher has signed', async () => {
  expect(await errorOf(op.upload({ ...made, signature: null }))).toEqual([
    422,
    expect.stringMatching(
      /it is not signed, and KEYWAY_INSTALL=trusted .* Sign it first: keyway sign PACKAGE --key KEY/,
    ),
  ])
  expect(await errorOf(op.upload(made))).toEqual([
    422,
    expect.stringMatching(
      new RegExp(`signed by the key ${publisher.id}, which nobody here trusts`),
    ),
  ])
  expect((await op.trustPublisher()).body.difference).toEqual([
    `publisher Acme Inc.: trusted (key ${publisher.id})`,
  ])
  const { body } = await op.upload(made)
  expect(body.package).toMatchObject({ trust: 'trusted', publisher: 'Acme Inc.' })
  expect((await op.activate(made)).status).toBe(200)
  expect((await op.ask('acme', 'validate_credentials')).body.response.valid).toBe(true)
})

test('a signature of another package is invalid, and so is malformed text', async () => {
  await op.trustPublisher()
  const other = await packaged({ version: '2.0.0' })
  for (const signature of [other.signature, '{}', 'nonsense']) {
    expect(await errorOf(op.upload({ ...made, signature }))).toEqual([
      422,
      expect.stringMatching(/the signature is invalid/),
    ])
  }
})

test('distrusting a key stops the connectors that it signed, and a rollback does not restore them', async () => {
  await op.trustPublisher()
  const { body: at } = await op.install(made)
  const { body } = await op.call('DELETE', `/publishers/${publisher.id}?reason=it+leaked`)
  expect(body.difference).toEqual([
    'acme: 1.0.0 is invalid now',
    `publisher Acme Inc.: trusted no more (key ${publisher.id})`,
  ])
  expect((await op.ask('acme', 'validate_credentials')).body.error.error_code).toBe('not_found')
  const { body: rows } = await op.call('GET', '/connectors')
  expect(rows.items.find((row: { id: string }) => row.id === 'acme')).toMatchObject({
    state: 'ghost',
    reason: expect.stringMatching(/its signature is invalid now/),
  })
  expect(await errorOf(op.upload(made))).toEqual([422, expect.stringMatching(/no longer trusted/)])
  await op.call('POST', '/rollback', { to: at.generation })
  expect((await op.ask('acme', 'validate_credentials')).body.error.error_code).toBe('not_found')
  expect((await op.activate(made)).status).toBe(409)

  await op.trustPublisher()
  expect((await op.ask('acme', 'validate_credentials')).body.response.valid).toBe(true)
})

test('an id belongs to its publisher unless change_publisher is set', async () => {
  await op.trustPublisher()
  await op.install(made)
  const thief = makeKeyPair()
  await op.call('POST', '/publishers', { name: 'Others Ltd.', public_key: thief.publicKey })
  const next = await packaged({ version: '1.1.0' })
  const signature = JSON.stringify(signPackage(await readPackage(next.packed), thief.privateKey))
  expect(await errorOf(op.upload({ ...next, signature }))).toEqual([
    409,
    expect.stringMatching(new RegExp(`acme belongs to the publisher of key ${publisher.id}`)),
  ])
  expect((await op.upload({ ...next, signature }, '?change_publisher=true')).status).toBe(201)
})

test('an invalid public key is refused with a message', async () => {
  const sent = await op.call('POST', '/publishers', { name: 'x', public_key: 'nonsense' })
  expect([sent.status, sent.body.error.message]).toEqual([
    422,
    expect.stringMatching(/the key cannot be read/),
  ])
})

test('a connector that has changed its publisher belongs to the new one', async () => {
  await op.trustPublisher()
  await op.install(made)
  const heir = makeKeyPair()
  await op.call('POST', '/publishers', { name: 'Heirs Ltd.', public_key: heir.publicKey })
  const signed = async (version: string) => {
    const next = await packaged({ version })
    const signature = JSON.stringify(signPackage(await readPackage(next.packed), heir.privateKey))
    return { ...next, signature }
  }
  expect((await op.upload(await signed('1.1.0'), '?change_publisher=true')).status).toBe(201)
  expect((await op.upload(await signed('1.2.0'))).status).toBe(201)
  const before = await packaged({ version: '1.3.0' })
  expect((await op.upload(before)).status).toBe(409)
})

test('a refused upload does not replace the signature of an installed version', async () => {
  await op.trustPublisher()
  await op.install(made)
  const other = makeKeyPair()
  await op.call('POST', '/publishers', { name: 'Others Ltd.', public_key: other.publicKey })
  const signature = JSON.stringify(signPackage(await readPackage(made.packed), other.privateKey))
  expect((await op.upload({ ...made, signature })).status).toBe(409)
  await op.call('DELETE', `/publishers/${publisher.id}`)
  expect((await op.ask('acme', 'validate_credentials')).body.error.error_code).toBe('not_found')
  await op.trustPublisher()
})

test('a rollback to a version with a distrusted key is refused, and the serving version goes on', async () => {
  await op.trustPublisher()
  const { body: at } = await op.install(made)
  const heir = makeKeyPair()
  await op.call('POST', '/publishers', { name: 'Heirs Ltd.', public_key: heir.publicKey })
  const next = await packaged({ version: '1.1.0' })
  const signature = JSON.stringify(signPackage(await readPackage(next.packed), heir.privateKey))
  expect((await op.upload({ ...next, signature }, '?change_publisher=true')).status).toBe(201)
  expect((await op.activate(next)).status).toBe(200)
  await op.call('DELETE', `/publishers/${publisher.id}`)
  expect(await errorOf(op.call('POST', '/rollback', { to: at.generation }))).toEqual([
    409,
    expect.stringMatching(/acme 1\.0\.0 is signed by a key that is trusted no more/),
  ])
  expect((await op.ask('acme', 'validate_credentials')).body.response.valid).toBe(true)
  await op.trustPublisher()
})

test('a package whose key is distrusted during its checks is not installed', async () => {
  await op.trustPublisher()
  let distrusted: Promise<unknown> | undefined
  const looks = lookAtStatements((text) => {
    if (distrusted !== undefined || !/^insert into "packages"/.test(text)) return undefined
    distrusted = op.call('DELETE', `/publishers/${publisher.id}`)
    return distrusted
  })
  const sent = await errorOf(op.upload(await packaged({ version: '1.4.0' }))).finally(() =>
    looks.mockRestore(),
  )
  expect(sent).toEqual([422, expect.stringMatching(/no longer trusted/)])
  expect((await op.call('GET', '/connectors/acme')).status).toBe(404)
  await op.trustPublisher()
})

test('an index is not recorded when its key is distrusted concurrently', async () => {
  await op.trustPublisher()
  const domainId = await domainOf(core.db)
  const [admin] = await core.db.select().from(users).where(eq(users.email, 'admin@localhost'))
  const actor = { domainId, userId: admin?.id ?? '' }
  const wish = { action: 'distrust', reason: '', expected: null, dryRun: false } as const
  const seen = await meanwhile(
    core.db,
    (tx) =>
      commit(tx, actor, wish, (before) => ({
        ...before,
        publishers: before.publishers.map((one) => ({
          ...one,
          revoked_at: '2026-01-01T00:00:00Z',
        })),
      })),
    () => op.call('POST', '/published-indexes', { key: publisher.id, version: 1 }),
  )
  expect(seen.status).toBe(404)
  expect(await core.db.$count(publishedIndexes)).toBe(0)
  await op.trustPublisher()
})
