/** A host remembers the newest index of each registry by address, whichever trusted key signed it. */
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPublicKey } from '../../runtime/connectors/packages/sign.ts'
import { packaged } from '../connectors/lifecycle/packaging.ts'
import { type Running, startRunning } from './keyway.ts'

let host: Running
let packed: string

beforeAll(async () => {
  host = await startRunning()
  packed = await host.saved(await packaged())
  for (const key of ['old.key', 'new.key']) {
    await host.keyway('keygen', key)
    await host.keyway('trust', `${key}.pub`, '--name', key)
  }
})
afterAll(() => host.stop())

const publish = async (folder: string, ...args: string[]) => {
  const ended = await host.keyway('publish', folder, ...args)
  if (ended.code !== 0) throw new Error(ended.err)
}
const search = (...folders: string[]) =>
  host.keyway('search', ...folders.flatMap((folder) => ['--registry', folder]))
const INDEX = ['index.json', 'index.json.sig']
const copyIndex = async (from: string, to: string) => {
  await mkdir(at(to), { recursive: true })
  for (const file of INDEX) await copyFile(at(from, file), at(to, file))
}
const at = (...parts: string[]) => path.join(host.home, ...parts)
const isOlder = { code: 1, err: expect.stringContaining('it is an older one') }

test('an older index is refused at every address that was searched together with the newer one', async () => {
  await publish('taken', packed, '--key', 'old.key')
  for (const copy of ['mirror', 'kept']) await copyIndex('taken', copy)
  expect(await search('taken', 'mirror')).toMatchObject({ code: 0 })
  await publish('taken', packed, '--key', 'old.key')
  expect(await search('taken', 'mirror')).toMatchObject({ code: 0 })

  const refused = await search('mirror')
  expect(refused).toMatchObject(isOlder)
  expect(refused.err).toContain('of old.key was seen here')
  await copyIndex('kept', 'taken')
  expect(await search('./taken/')).toMatchObject(isOlder)
})

test('a mirror that serves the index of another publisher does not block the real registry', async () => {
  await publish('mine', packed, '--key', 'old.key')
  await publish('other', packed, '--key', 'new.key')
  for (let n = 0; n < 3; n += 1) await publish('other', packed, '--key', 'new.key')
  await copyIndex('other', 'liar')
  expect(await search('liar', 'mine')).toMatchObject({ code: 0 })
  expect(await search('mine')).toMatchObject({ code: 0 })
})

test('two registries signed by the same key are remembered separately', async () => {
  await publish('quiet', packed, '--key', 'new.key')
  for (let n = 0; n < 3; n += 1) await publish('busy', packed, '--key', 'new.key')
  expect(await search('busy')).toMatchObject({ code: 0 })
  expect(await search('quiet')).toMatchObject({ code: 0, out: 'acme 1.0.0\n' })
})

test('a version remembered by key alone applies until the registry is seen by its address', async () => {
  const key = readPublicKey(await readFile(at('old.key.pub'), 'utf8')).id
  const recordVersion = async (version: number, registries?: string[]) =>
    (
      await host.core.call('POST', '/operator/published-indexes', {
        body: { key, version, registries },
      })
    ).status
  expect(await recordVersion(20)).toBe(200)
  expect(await recordVersion(10)).toBe(409)
  expect(await recordVersion(10, ['https://one.example'])).toBe(409)
  expect(await recordVersion(30, ['https://one.example'])).toBe(200)
  expect(await recordVersion(40)).toBe(200)
  expect(await recordVersion(30, ['https://one.example'])).toBe(200)
  expect(await recordVersion(29, ['https://one.example', 'https://two.example'])).toBe(409)
  expect(await recordVersion(Number.MAX_SAFE_INTEGER, ['https://one.example'])).toBe(409)
  expect(await recordVersion(31, ['https://one.example'])).toBe(200)
})

test('outdated lists the newest version of the same publisher, and none of another', async () => {
  const version = async (name: string, key?: string) => {
    const file = await host.saved(await packaged({ id: 'owned', version: name }))
    await (key ? host.keyway('sign', file, '--key', key) : rm(at(`${file}.sig`)))
    return file
  }
  const outdated = async () => (await host.json('outdated', '--registry', 'owned')).answer.items
  const old = await version('1.0.0', 'old.key')
  await publish('owned', old, '--key', 'old.key')
  await host.keyway('install', old, '--grant-all')
  await publish('owned', await version('3.0.0', 'new.key'), '--key', 'old.key')
  await publish('owned', await version('4.0.0'), '--key', 'old.key')
  expect(await outdated()).toEqual([])
  const { out } = await host.keyway('outdated', '--registry', 'owned')
  expect(out).toContain('Everything is up to date with its publishers')
  await publish('owned', await version('1.1.0', 'old.key'), '--key', 'old.key')
  expect(await outdated()).toEqual([{ id: 'owned', installed: '1.0.0', newest: '1.1.0' }])
  const taken = ['upgrade', 'owned@1.1.0', '--registry', 'owned', '--dry-run']
  expect(await host.keyway(...taken)).toMatchObject({ code: 0 })

  // A server cannot hide a version by damaging or omitting its signature.
  const packages = await readdir(at('owned', 'packages'))
  const signatures = packages.filter((one) => /^owned-3.*\.sig$/.test(one))
  expect(signatures).toHaveLength(1)
  for (const file of signatures) {
    await writeFile(at('owned', 'packages', file), 'spoilt')
    expect(await outdated()).toEqual([{ id: 'owned', installed: '1.0.0', newest: '3.0.0' }])
    await rm(at('owned', 'packages', file))
  }
  expect(await outdated()).toEqual([{ id: 'owned', installed: '1.0.0', newest: '3.0.0' }])
})
