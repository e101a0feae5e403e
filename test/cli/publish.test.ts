/** Messages of `keyway publish` for an unusable folder, key or package. */
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { packaged } from '../connectors/lifecycle/packaging.ts'
import { newFolder } from '../kit/folder.ts'
import { keyway } from './keyway.ts'

const home = newFolder('publish')
const at = (...parts: string[]) => path.join(home, ...parts)
const run = (...args: string[]) => keyway(args, { cwd: home })
const publish = (folder: string, ...args: string[]) =>
  run('publish', folder, ...args, '--key', 'acme.key')
const says = (words: string) => ({ code: 1, err: expect.stringContaining(words) })

async function saved(made: Parameters<typeof packaged>[0] = {}): Promise<string> {
  const { id, version, packed } = await packaged(made)
  const name = `${id}-${version}.tgz`
  await writeFile(at(name), packed)
  return name
}

let first: string

beforeAll(async () => {
  first = await saved()
  await run('keygen', 'acme.key')
})

test('a file in place of the registry folder is refused and left unchanged', async () => {
  await writeFile(at('file'), 'mine')
  for (const more of [[], ['--dry-run']]) {
    const { code, err } = await publish('file', first, ...more)
    expect(code).toBe(1)
    expect(err).toMatch(/^file\S* .*is not a folder/)
    expect(err).not.toContain('    at ')
  }
  const long = await publish('x'.repeat(300), first)
  expect(long).toMatchObject(says('cannot be used'))
  expect(long.err).not.toContain('    at ')
  expect(await readFile(at('file'), 'utf8')).toBe('mine')
})

test('a private key that would be served with the folder is refused', async () => {
  await mkdir(at('served', 'keys'), { recursive: true })
  await copyFile(at('acme.key'), at('served', 'keys', 'acme.key'))
  const refused = await run('publish', 'served', first, '--key', 'served/keys/acme.key')
  expect(refused).toMatchObject(says('served/keys/acme.key is in served'))
  expect(await readdir(at('served'))).toEqual(['keys'])
  expect(await run('publish', '.', first, '--key', 'acme.key')).toMatchObject(says('is in .'))
})

test('a damaged package is refused by name, and an unsigned one causes a warning', async () => {
  await writeFile(at('damaged.tgz'), 'no package')
  expect(await publish('named', 'damaged.tgz')).toMatchObject(says('damaged.tgz: it is no package'))
  const { code, err } = await publish('named', first)
  expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining(first) })
  expect(err).toContain(`has no signature: keyway sign ${first}`)
  await run('sign', first, '--key', 'acme.key')
  expect((await publish('named', first)).err).toBe('')
})

test('a signed version stays signed if it is published again without its signature', async () => {
  await run('sign', first, '--key', 'acme.key')
  await publish('signed', first)
  await rm(at(`${first}.sig`))
  await publish('signed', first)
  const { connectors } = JSON.parse(await readFile(at('signed', 'index.json'), 'utf8'))
  expect(connectors[0].versions[0].signed).toBe(true)
})

test('an id that is another spelling of a published one is refused, and both are named', async () => {
  await publish('spelt', await saved({ id: 'acme-crm' }))
  const second = await publish('spelt', await saved({ id: 'acme_crm', version: '2.0.0' }))
  expect(second).toMatchObject(says('acme_crm is one id with acme-crm'))
})

test('a mirror address with a login or a query is refused, and the message does not repeat the secret', async () => {
  for (const mirror of [
    'https://bob:secret@a.example',
    'https:bob:secret@a.example',
    'bob:secret@a',
    'https://a.example/?t=secret',
  ]) {
    const { code, err } = await publish('mirrored', '--mirror', mirror)
    expect({ code, err }).toMatchObject(says('is not a mirror'))
    expect(err).not.toContain('secret')
  }
})
