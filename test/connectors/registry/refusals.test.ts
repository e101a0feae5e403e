/** Valid folders that are not served: by the operator's choice, or because an id is taken. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { readFolder } from '../../../runtime/connectors/registry/folder.ts'
import { createRegistry, type DropIn } from '../../../runtime/connectors/registry/registry.ts'
import { openStore } from '../../../runtime/connectors/registry/store.ts'
import { bench } from './fixtures/bench.ts'
import { filesOf, temporaryFolder, write } from './fixtures/folders.ts'

const open = (dropIn: DropIn, builtIn: string[] = []) =>
  createRegistry({
    inspector: bench.inspector,
    store: openStore(temporaryFolder(), 'a'.repeat(64)),
    builtIn: new Set(builtIn),
    clearGrants: new Map(),
    dropIn,
    onChange: () => {},
    onRetired: () => {},
  })

test('`off` serves only what the runtime ships, from any path', async () => {
  const home = temporaryFolder()
  await write(path.join(home, 'shipped'), filesOf({ id: 'shipped' }))
  await write(path.join(home, 'other'), filesOf({ id: 'other' }))
  const { digest } = await readFolder(path.join(home, 'shipped'))
  const registry = open('off', [digest])
  await registry.refresh(path.join(home, 'shipped'))
  await registry.refresh(path.join(home, 'other'))
  expect(registry.ids()).toEqual(['shipped'])
  expect(registry.list().find(({ serving }) => !serving)?.reason).toContain('are off')
  await write(path.join(home, 'shipped'), filesOf({ id: 'shipped', version: '1.1.0' }))
  await registry.refresh(path.join(home, 'shipped'))
  expect(registry.find('shipped')?.version).toBe('1.0.0')
})

test('an edit to an id that is taken leaves the previous version of the folder serving', async () => {
  const home = temporaryFolder()
  const registry = open('open')
  for (const id of ['otter', 'badger']) {
    await write(path.join(home, id), filesOf({ id }))
    await registry.refresh(path.join(home, id))
  }
  await write(path.join(home, 'otter'), filesOf({ id: 'badger', version: '2.0.0' }))
  await registry.refresh(path.join(home, 'otter'))
  expect(registry.ids()).toEqual(['badger', 'otter'])
  expect(registry.find('badger')?.version).toBe('1.0.0')
  const ghosts = registry.list().filter(({ state }) => state === 'ghost')
  expect(ghosts.map(({ reason }) => reason)).toEqual([
    'the id badger is taken by badger 1.0.0; "-" and "_" are one spelling',
  ])
  await write(path.join(home, 'otter'), filesOf({ id: 'otter', runtime: '^9.0.0' }))
  await registry.refresh(path.join(home, 'otter'))
  expect(registry.list().filter(({ state }) => state === 'ghost')).toHaveLength(1)
})
