/** What a host remembers of registries: of each by its address, whichever trusted key signed its index. */
import { copyFile, mkdir, readFile } from 'node:fs/promises'
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

test('an index of the former key is an older one, also at the mirror that was named', async () => {
  await publish('taken', packed, '--key', 'old.key')
  for (const copy of ['mirror', 'kept']) await copyIndex('taken', copy)
  expect(await search('taken', 'mirror')).toMatchObject({ code: 0 })
  await publish('taken', '--key', 'new.key', '--formerly', 'old.key.pub')
  expect(await search('taken', 'mirror')).toMatchObject({ code: 0 })

  const refused = await search('mirror')
  expect(refused).toMatchObject(isOlder)
  expect(refused.err).toContain('of new.key was seen here')
  await copyIndex('kept', 'taken')
  expect(await search('./taken/')).toMatchObject(isOlder)
})

test('two registries of one key are two', async () => {
  await publish('quiet', packed, '--key', 'new.key')
  for (let n = 0; n < 3; n += 1) await publish('busy', packed, '--key', 'new.key')
  expect(await search('busy')).toMatchObject({ code: 0 })
  expect(await search('quiet')).toMatchObject({ code: 0, out: 'acme 1.0.0\n' })
})

test('what was remembered by the key alone counts until a registry is seen by its address', async () => {
  const key = readPublicKey(await readFile(at('old.key.pub'), 'utf8')).id
  const see = async (version: number, registries?: string[]) =>
    (
      await host.core.call('POST', '/operator/published-indexes', {
        body: { key, version, registries },
      })
    ).status
  expect(await see(20)).toBe(200)
  expect(await see(10)).toBe(409)
  expect(await see(10, ['https://one.example'])).toBe(409)
  expect(await see(30, ['https://one.example'])).toBe(200)
  expect(await see(40)).toBe(200)
  expect(await see(30, ['https://one.example'])).toBe(200)
  expect(await see(29, ['https://one.example', 'https://two.example'])).toBe(409)
})
