/** `keyway pack`, `keygen` and `sign`, as an author runs them. */
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPackage } from '../../runtime/connectors/packages/read.ts'
import { trustOf } from '../../runtime/connectors/packages/sign.ts'
import { ROOT, keyway as run } from './keyway.ts'

let home: string
const keyway = async (...args: string[]) => {
  const { code, out, err } = await run(args, { cwd: home })
  return { code, output: code === 0 ? out : out + err }
}

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'keyway-pack-'))
  await cp(path.join(ROOT, 'plugins/scim'), path.join(home, 'scim'), { recursive: true })
})
afterAll(() => rm(home, { recursive: true, force: true }))

test('a folder is packed reproducibly, signed, and trusted if its key is known', async () => {
  const packed = JSON.parse((await keyway('pack', 'scim', '--out', 'a.tgz', '--json')).output)
  expect(packed).toMatchObject({ id: 'scim', file: 'a.tgz' })
  await keyway('pack', 'scim', '--out', 'b.tgz')
  const bytes = await readFile(path.join(home, 'a.tgz'))
  expect(bytes.equals(await readFile(path.join(home, 'b.tgz')))).toBe(true)

  const made = await readPackage(bytes)
  expect(made.digest).toBe(packed.digest)
  expect([...made.files.keys()]).toEqual(
    expect.arrayContaining(['code.js', 'code.js.map', 'connector.cases.json', 'connector.json']),
  )

  const { output } = await keyway('keygen', 'me.key')
  const [, key = ''] = /key (\S+)\s*$/.exec(output) ?? []
  expect((await stat(path.join(home, 'me.key'))).mode & 0o777).toBe(0o600)
  expect((await keyway('sign', 'a.tgz', '--key', 'me.key')).code).toBe(0)
  const publicKey = await readFile(path.join(home, 'me.key.pub'), 'utf8')
  const signature = await readFile(path.join(home, 'a.tgz.sig'), 'utf8')
  expect(
    trustOf(made, signature, [{ key, name: 'me', public_key: publicKey, revoked_at: null }]).state,
  ).toBe('trusted')
})

test('an existing key is never overwritten', async () => {
  await keyway('keygen', 'once.key')
  const before = await readFile(path.join(home, 'once.key'), 'utf8')
  expect(await keyway('keygen', 'once.key')).toMatchObject({
    code: 1,
    output: expect.stringContaining('already exists'),
  })
  expect(await readFile(path.join(home, 'once.key'), 'utf8')).toBe(before)
})

test('a folder that fails its check or contains a secret is not packed', async () => {
  const leaky = path.join(home, 'leaky')
  await cp(path.join(home, 'scim'), leaky, { recursive: true })
  await writeFile(path.join(leaky, 'README.md'), `token: ghp_${'a1B2'.repeat(9)}`)
  const leak = await keyway('pack', 'leaky')
  expect(leak).toMatchObject({ code: 1, output: expect.stringContaining('a GitHub token') })
  await writeFile(path.join(leaky, 'connector.json'), '{}')
  expect((await keyway('pack', 'leaky')).code).toBe(1)
  expect((await keyway('pack', 'nowhere')).output).toContain('no such folder')
})

test.each([
  [['sign', 'scim/README.md', '--key', 'scim/README.md'], 'it is no package'],
  [['sign', 'nowhere.tgz', '--key', 'x'], 'there is no file nowhere.tgz'],
])('keyway %j says what is wrong', async (args, words) => {
  const { code, output } = await keyway(...args)
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining(words) })
})
