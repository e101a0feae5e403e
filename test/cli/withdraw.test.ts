/** Withdrawn versions: in the registry folder, at hosts that use it, and where they are installed. */
import { execFile } from 'node:child_process'
import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPublicKey } from '../../runtime/connectors/packages/sign.ts'
import { packaged } from '../connectors/lifecycle/packaging.ts'
import { MAIN } from '../kit/commands.ts'
import { shellBlock } from '../pages.ts'
import { type Running, startRunning } from './keyway.ts'

const run = promisify(execFile)

let host: Running
const files = new Map<string, string>()

beforeAll(async () => {
  host = await startRunning()
  for (const key of ['acme.key', 'next.key']) await host.keyway('keygen', key)
  await host.keyway('trust', 'acme.key.pub', '--name', 'Acme Inc.')
  for (const id of ['acme', 'gone', 'lost'])
    for (const version of ['1.0.0', '1.1.0']) {
      const file = await host.saved(await packaged({ id, version }))
      await host.keyway('sign', file, '--key', 'acme.key')
      files.set(`${id}@${version}`, file)
    }
})
afterAll(() => host.stop())

const at = (...parts: string[]) => path.join(host.home, ...parts)
const file = (name: string) => files.get(name) ?? ''
const publish = (folder: string, ...args: string[]) =>
  host.keyway('publish', folder, ...args, '--key', 'acme.key')
const from = (verb: string, name: string, folder: string, ...args: string[]) =>
  host.keyway(verb, name, '--registry', folder, ...args)
const outdated = async (folder: string) =>
  (await host.json('outdated', '--registry', folder)).answer.items
const WHY = ['--reason', 'it logs <b>tokens</b>']
const refused = (words: string) => ({ code: 1, err: expect.stringContaining(words) })
const indexOf = async (folder: string) =>
  JSON.parse(await readFile(at(folder, 'index.json'), 'utf8'))

test('a withdrawn version is not installed and is reported, but keeps serving; it can be restored', async () => {
  await publish('own', file('acme@1.0.0'), file('acme@1.1.0'))
  expect((await from('install', 'acme@1.1.0', 'own', '--grant-all')).code).toBe(0)
  expect(await outdated('own')).toEqual([])

  const result = await publish('own', '--withdraw', 'acme@1.1.0', ...WHY)
  expect(result).toMatchObject({ code: 0, out: expect.stringContaining('acme@1.1.0 is withdrawn') })
  const words = 'acme 1.1.0 was withdrawn on '
  expect(await from('install', 'acme@1.1.0', 'own', '--dry-run')).toMatchObject(refused(words))
  const { err } = await from('install', 'acme@1.1.0', 'own')
  expect(err).toContain('("it logs <b>tokens</b>"); take acme@1.0.0')
  const ranged = await from('install', 'acme@^1', 'own', '--dry-run')
  expect(ranged).toMatchObject({ code: 0, out: expect.stringContaining('acme 1.0.0: signed by') })

  const search = await from('search', 'acme', 'own')
  expect(search.out).toMatch(/^acme 1\.0\.0\n {2}acme 1\.1\.0 was withdrawn on .*tokens/)
  const offline = await host.keyway('search', '--registry', 'own', '--key', 'acme.key.pub')
  expect(offline.out).toBe(search.out)

  const outdatedText = await host.keyway('outdated', '--registry', 'own')
  expect(outdatedText.out).toMatch(
    /^WITHDRAWN: acme 1\.1\.0 was withdrawn .*and it serves here: no newer/,
  )
  const reason = 'it logs <b>tokens</b>'
  expect(await outdated('own')).toEqual([
    ...[
      {
        id: 'acme',
        installed: '1.1.0',
        newest: null,
        withdrawn: { at: expect.any(String), reason },
      },
    ],
  ])
  const { answer } = await host.json('list')
  expect(answer.items.find(({ id }: { id: string }) => id === 'acme')).toMatchObject({
    ...{ version: '1.1.0', serving: true, state: 'ready' },
  })

  const again = await publish('own', file('acme@1.1.0'))
  expect(again.err).toContain(
    'acme 1.1.0 is withdrawn and stays so; to offer it again, add --restore',
  )
  expect(await outdated('own')).toHaveLength(1)
  const back = await publish('own', '--restore', 'acme@1.1.0')
  expect(back).toMatchObject({
    code: 0,
    out: expect.stringContaining('acme@1.1.0 is offered again'),
  })
  expect(await outdated('own')).toEqual([])
  expect((await from('install', 'acme@1.1.0', 'own', '--dry-run')).code).toBe(0)
})

test('the documented commands withdraw a version, and offer it again', async () => {
  await publish('registry', file('acme@1.0.0'), file('acme@1.1.0'))
  const script = shellBlock(/^npx keyway publish .*--withdraw/, 'runtime/docs/operate/registry.md')
  const npx = `npx() { shift; "${process.execPath}" --no-warnings "${MAIN}" "$@"; }`
  const { stdout } = await run('sh', ['-ec', `${npx}\n${script}`], { cwd: host.home })
  expect(stdout).toMatch(/acme@1\.0\.0 is withdrawn[\s\S]*acme@1\.0\.0 is offered again/)
})

test('one publication can withdraw a version and add its fix', async () => {
  const fixed = await host.saved(await packaged({ version: '1.1.1' }))
  await host.keyway('sign', fixed, '--key', 'acme.key')
  await publish('mended', file('acme@1.0.0'), file('acme@1.1.0'))
  expect((await publish('mended', fixed, '--withdraw', 'acme@1.1.0', ...WHY)).code).toBe(0)
  const { out } = await host.keyway('outdated', '--registry', 'mended')
  expect(out).toContain('1.1.1 is published; keyway upgrade acme@1.1.1 --registry mended')
})

test('a copy on disk and a mirror report the withdrawal, and an older copy is refused', async () => {
  await publish('master', file('gone@1.0.0'), file('gone@1.1.0'))
  await cp(at('master'), at('old'), { recursive: true })
  expect((await from('search', 'gone', 'master', '--registry', 'old')).code).toBe(0)
  await publish('master', '--withdraw', 'gone@1.1.0', ...WHY)
  await cp(at('master'), at('disk'), { recursive: true })
  const server = createServer(async (request, reply) => {
    const content = await readFile(at('disk', request.url ?? '')).catch(() => null)
    reply.writeHead(content === null ? 404 : 200).end(content)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const web = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const mirror of ['disk', web])
    expect(await from('install', 'gone@1.1.0', 'master', '--registry', mirror)).toMatchObject(
      refused('gone 1.1.0 was withdrawn'),
    )
  for (const mirror of ['disk', web])
    expect(await from('install', 'gone@1.1.0', mirror)).toMatchObject(
      refused('gone 1.1.0 was withdrawn'),
    )
  // Next to the newer copy, the older one is ignored; from then on it is also refused alone.
  expect(await from('install', 'gone@1.1.0', 'old', '--registry', 'master')).toMatchObject(
    refused('gone 1.1.0 was withdrawn'),
  )
  expect(await from('install', 'gone@1.1.0', 'old')).toMatchObject(refused('it is an older one'))
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

test('a version that is missing in the index cannot be installed, and is not reported where it serves', async () => {
  await publish('lost', file('lost@1.0.0'), file('lost@1.1.0'))
  expect((await from('install', 'lost@1.1.0', 'lost', '--grant-all')).code).toBe(0)
  // The publisher loses the folder, and publishes fewer versions into it: it is the same registry.
  await rm(at('lost'), { recursive: true })
  expect((await publish('lost', file('lost@1.0.0'))).code).toBe(0)
  expect(await from('install', 'lost@1.1.0', 'lost')).toMatchObject(
    refused('there is no lost of 1.1.0; there are 1.0.0'),
  )
  expect(await outdated('lost')).toEqual([])
})

describe('a publisher', () => {
  test('with a new key takes over the withdrawals', async () => {
    await publish('rotated', file('acme@1.0.0'), file('acme@1.1.0'))
    await publish('rotated', '--withdraw', 'acme@1.1.0', ...WHY)
    const next = ['publish', 'rotated', '--key', 'next.key']
    expect(await host.keyway(...next)).toMatchObject(refused('is not signed by this key'))
    expect((await host.keyway(...next, '--formerly', 'acme.key.pub')).code).toBe(0)
    const { id } = readPublicKey(await readFile(at('next.key.pub'), 'utf8'))
    expect(await from('install', 'acme@1.1.0', 'rotated')).toMatchObject(
      refused(`signed by the key ${id}, which is not trusted`),
    )
    await host.keyway('trust', 'next.key.pub', '--name', 'Acme Inc. again')
    expect(await from('install', 'acme@1.1.0', 'rotated')).toMatchObject(
      refused('acme 1.1.0 was withdrawn'),
    )
    expect((await host.keyway(...next, '--restore', 'acme@1.1.0')).code).toBe(0)
    expect((await from('install', 'acme@1.1.0', 'rotated', '--dry-run')).code).toBe(0)
  })

  test('loses no withdrawal to a concurrent publication', async () => {
    await publish('raced', file('acme@1.0.0'), file('acme@1.1.0'))
    const [one, other] = await Promise.all([
      publish('raced', '--withdraw', 'acme@1.0.0', ...WHY),
      publish('raced', '--withdraw', 'acme@1.1.0', ...WHY),
    ])
    const done = [one, other].filter(({ code }) => code === 0).length
    const { connectors } = await indexOf('raced')
    const marks = connectors[0].versions.flatMap(({ wants }: { wants: { kind: string }[] }) =>
      wants.filter(({ kind }) => kind === 'withdrawn-1'),
    )
    expect(done).toBeGreaterThan(0)
    expect(marks).toHaveLength(done)
    for (const { code, err } of [one, other])
      if (code !== 0) expect(err).toContain('someone else is publishing there')
  })

  test.each([
    [['--withdraw', 'acme@1.0.0'], 'say why. Write --reason'],
    [['--withdraw', 'acme@1.0.0', '--reason', 'x'.repeat(1000)], '500 characters at most'],
    [['--withdraw', 'acme@1.0.0', '--reason', 'a\u001b[2Jb'], 'without control characters'],
    [['--withdraw', 'acme@9.9.9', ...WHY], 'there is no acme 9.9.9 in this registry'],
    [['--withdraw', 'acme', ...WHY], 'write its id and version'],
    [['--restore', 'acme@1.0.0'], 'acme@1.0.0 is not withdrawn'],
    [WHY, 'name one by --withdraw'],
  ])('is refused %j, and nothing is signed', async (args, words) => {
    await publish('kept', file('acme@1.0.0'))
    const before = await readFile(at('kept', 'index.json'))
    const result = await publish('kept', ...args)
    expect(result).toMatchObject(refused(words))
    expect(result.err).not.toContain('\u001b')
    expect(await readFile(at('kept', 'index.json'))).toEqual(before)
  })

  test('interrupted between the signature and the index loses no withdrawal', async () => {
    await publish('ended', file('acme@1.0.0'), file('acme@1.1.0'))
    const before = await readFile(at('ended', 'index.json'))
    await publish('ended', '--withdraw', 'acme@1.1.0', ...WHY)
    await rename(at('ended', 'index.json'), at('ended', 'index.json.part'))
    await writeFile(at('ended', 'index.json'), before)
    expect((await publish('ended')).code).toBe(0)
    expect(await from('install', 'acme@1.1.0', 'ended')).toMatchObject(
      refused('acme 1.1.0 was withdrawn'),
    )
  })

  test('does not sign, and hosts do not trust, an index that others changed in the folder', async () => {
    await publish('forged', file('acme@1.0.0'), file('acme@1.1.0'))
    const clean = await readFile(at('forged', 'index.json'))
    await publish('forged', '--withdraw', 'acme@1.1.0', ...WHY)
    const marked = await readFile(at('forged', 'index.json'), 'utf8')
    for (const text of [
      clean,
      marked.replace('tokens', 'TOKENS'),
      marked.replace('withdrawn-1', 'x'),
    ]) {
      await writeFile(at('forged', 'index.json'), text)
      expect(await from('install', 'acme@1.1.0', 'forged')).toMatchObject(
        refused('the index is not to be trusted'),
      )
      expect(await publish('forged')).toMatchObject(refused('is not signed by this key'))
    }
  })

  test('changes nothing with --dry-run', async () => {
    await publish('tried', file('acme@1.0.0'))
    const before = await readFile(at('tried', 'index.json'))
    const result = await publish('tried', '--withdraw', 'acme@1.0.0', ...WHY, '--dry-run')
    expect(result.out).toContain('(not written)\n  acme@1.0.0 is withdrawn')
    expect(await readFile(at('tried', 'index.json'))).toEqual(before)
  })
})
