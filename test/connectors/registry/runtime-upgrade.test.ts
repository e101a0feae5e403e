/** A new version of the runtime checks everything again. The versions that were served must not be lost. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { createRegistry, type DropIn } from '../../../runtime/connectors/registry/registry.ts'
import { openStore } from '../../../runtime/connectors/registry/store.ts'
import { bench } from './fixtures/bench.ts'
import { filesOf, temporaryFolder, write } from './fixtures/folders.ts'

const open = (data: string, toolchain: string, dropIn: DropIn) =>
  createRegistry({
    inspector: bench.inspector,
    store: openStore(data, toolchain.repeat(64)),
    builtIn: new Set(),
    clearGrants: new Map(),
    dropIn,
    onChange: () => {},
    onRetired: () => {},
  })

const egress = (host: string) => ({ egress: [{ url: `https://${host}` }] })

test('an edit with a wider reach waits under `closed`, also right after an upgrade', async () => {
  const data = temporaryFolder()
  const directory = path.join(temporaryFolder(), 'x')
  await write(directory, filesOf(egress('a.example')))
  await open(data, 'a', 'closed').refresh(directory)
  await write(directory, filesOf({ ...egress('b.example'), version: '1.1.0' }))
  const upgraded = open(data, 'b', 'closed')
  await upgraded.refresh(directory)
  expect(upgraded.find('acme')?.version).toBe('1.0.0')
  const ghost = upgraded.list().find(({ state }) => state === 'ghost')
  expect(ghost?.reason).toContain('wants more')
})

test('a broken edit leaves the last good version serving, also right after an upgrade', async () => {
  const data = temporaryFolder()
  const directory = path.join(temporaryFolder(), 'x')
  await write(directory, filesOf())
  await open(data, 'a', 'open').refresh(directory)
  await write(directory, filesOf({}, 'export default {{'))
  const upgraded = open(data, 'b', 'open')
  await upgraded.refresh(directory)
  const loaded = await upgraded.find('acme')?.load()
  expect(loaded?.code).toContain('unique_tenant_id')
})

test('a page sequence finds the version that started it after an edit and a restart', async () => {
  const data = temporaryFolder()
  const directory = path.join(temporaryFolder(), 'x')
  await write(directory, filesOf())
  const before = open(data, 'a', 'open')
  await before.refresh(directory)
  const digest = before.find('acme')?.digest ?? ''
  await write(directory, filesOf({ version: '1.1.0' }))
  const restarted = open(data, 'a', 'open')
  await restarted.refresh(directory)
  expect(restarted.find('acme')?.version).toBe('1.1.0')
  expect(await restarted.byDigest('acme', digest)).toMatchObject({ version: '1.0.0', digest })
})
