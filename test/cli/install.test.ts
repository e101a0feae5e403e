/** `keyway install`, `upgrade`, `rollback`, `remove`, and the verbs that show their effect. */
import {
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rmdir,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Made, packaged, publisher } from '../connectors/lifecycle/packaging.ts'
import { type Running, startRunning } from './keyway.ts'

let host: Running
let first: string
let second: string
let made: Made

beforeAll(async () => {
  host = await startRunning()
  made = await packaged({ version: '1.0.0' })
  first = await host.saved(made)
  second = await host.saved(
    await packaged({
      version: '1.1.0',
      egress: [{ url: 'https://api.acme.example' }, { url: 'https://files.acme.example' }],
    }),
  )
})
afterAll(() => host.stop())
afterEach(() => host.keyway('remove', 'acme'))

const newest = async () => (await host.json('nodes')).answer.generation

describe('a registry that is a folder', () => {
  const publish = async (key: string, ...args: string[]) => {
    const ended = await host.keyway('publish', 'registry', ...args, '--key', key)
    if (ended.code !== 0) throw new Error(ended.err)
  }

  test('is published, searched, installed from and compared with, over HTTP and from its folder', async () => {
    await host.keyway('keygen', 'acme.key')
    const signatures = [first, second].map((one) => path.join(host.home, `${one}.sig`))
    const others = await Promise.all(signatures.map((one) => readFile(one)))
    await host.keyway('publish', 'others', first, '--key', 'acme.key')
    for (const one of [first, second]) await host.keyway('sign', one, '--key', 'acme.key')
    await publish('acme.key', first)
    const search = (...more: string[]) => host.keyway('search', 'acme', '--registry', ...more)
    const byKey = await search('registry', '--key', 'acme.key.pub')
    expect(byKey).toMatchObject({ code: 0, out: 'acme 1.0.0\n' })
    const unknown = await host.keyway('install', 'acme@^1', '--registry', 'registry')
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('keyway trust KEY.pub') })
    const { answer } = await host.json('trust', 'acme.key.pub', '--name', 'Acme Inc.')
    expect(answer.changed).toBe(true)
    expect(await host.keyway('install', 'acme@^1', '--registry', 'others')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`signed by the key ${publisher.id}, which is not trusted`),
    })

    const server = createServer(async (request, reply) => {
      const content = await readFile(path.join(host.home, 'registry', request.url ?? '')).catch(
        () => null,
      )
      reply.writeHead(content === null ? 404 : 200).end(content)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const web = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const from = ['--registry', 'no-such-folder', '--registry', web]
    const installed = await host.keyway('install', 'acme@~1.0', ...from, '--grant-all')
    expect(installed).toMatchObject({ code: 0, out: expect.stringContaining('acme: serves 1.0.0') })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))

    const index = path.join(host.home, 'registry', 'index.json')
    const [old, oldSignature] = [await readFile(index), await readFile(`${index}.sig`)]
    await publish('acme.key', second)
    const { answer: outdated } = await host.json('outdated', '--registry', 'registry')
    expect(outdated.items).toEqual([{ id: 'acme', installed: '1.0.0', newest: '1.1.0' }])
    const next = await host.keyway('outdated', '--registry', 'registry')
    expect(next.out).toContain('; keyway upgrade acme@1.1.0 --registry registry')
    const none = await host.keyway('install', 'acme@^2', '--registry', 'registry')
    expect(none.err).toContain('there is no acme of ^2; there are 1.1.0, 1.0.0')

    const [newer, newerSignature] = [await readFile(index), await readFile(`${index}.sig`)]
    await writeFile(index, old)
    const mixed = await host.keyway('outdated', '--registry', 'registry')
    expect(mixed).toMatchObject({ code: 1, err: expect.stringContaining('not to be trusted') })
    await writeFile(`${index}.sig`, oldSignature)
    const back = await host.keyway('outdated', '--registry', 'registry')
    expect(back).toMatchObject({ code: 1, err: expect.stringContaining('it is an older one') })
    await writeFile(index, newer)
    await writeFile(`${index}.sig`, newerSignature)
    const upgraded = await host.keyway(
      'upgrade',
      'acme@1.1.0',
      '--registry',
      'registry',
      '--grant-all',
    )
    expect(upgraded).toMatchObject({ code: 0, out: expect.stringContaining('acme: 1.0.0 → 1.1.0') })
    const { answer: same } = await host.json('outdated', '--registry', 'registry')
    expect(same.items).toEqual([])

    for (const [n, one] of signatures.entries()) await writeFile(one, others[n] ?? '')
    const packages = await readdir(path.join(host.home, 'registry', 'packages'))
    const file = packages.find((one) => one.startsWith('acme-1.0.0-')) ?? ''
    await writeFile(path.join(host.home, 'registry', 'packages', file), 'another')
    const changed = await host.keyway('install', 'acme@1.0.0', '--registry', 'registry')
    expect(changed).toMatchObject({ code: 1, err: expect.stringContaining('it is no package') })
  })

  test('must be named and use TLS; its index is valid for 1 day or more', async () => {
    const none = await host.keyway('search')
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('no registry is named') })
    expect((await host.keyway('install', 'staff')).err).toContain('with --registry')
    const expired = await host.keyway('publish', 'none', '--key', 'acme.key', '--days', '0')
    expect(expired).toMatchObject({ code: 1, err: expect.stringContaining('--days 1 or more') })
    const plain = await host.keyway('search', '--registry', 'http://registry.example')
    expect(plain).toMatchObject({ code: 1, err: expect.stringContaining('without TLS') })
  })
})

describe('keyway publish', () => {
  const published = async (...args: string[]) => host.keyway('publish', 'own', ...args)
  const file = (name: string) => path.join(host.home, 'own', name)

  test('does not sign an index that somebody else changed in the folder', async () => {
    for (const key of ['own.key', 'next.key']) await host.keyway('keygen', key)
    expect((await published(first, '--key', 'own.key')).code).toBe(0)
    const index = await readFile(file('index.json'), 'utf8')
    const refused = { code: 1, err: expect.stringContaining('is not signed by this key') }

    await writeFile(file('index.json'), index.replace('"acme"', '"evil"'))
    expect(await published('--key', 'own.key')).toMatchObject(refused)
    await writeFile(file('index.json'), index)
    expect(await published('--key', 'next.key')).toMatchObject(refused)
    const next = await published('--key', 'next.key', '--formerly', 'own.key.pub')
    expect(next).toMatchObject({ code: 0, out: expect.stringContaining('1 connector') })
    expect((await published('--key', 'next.key')).code).toBe(0)
  })

  test('completes a publication that was interrupted between the signature and the index', async () => {
    const before = await readFile(file('index.json'))
    expect((await published(second, '--key', 'next.key')).code).toBe(0)
    await writeFile(file('index.json.part'), await readFile(file('index.json')))
    await writeFile(file('index.json'), before)
    expect((await published('--key', 'next.key')).code).toBe(0)
    expect(await readFile(file('index.json'), 'utf8')).toContain('1.1.0')
  })

  test('completes a publication whose repair was interrupted as well', async () => {
    const before = await readFile(file('index.json'))
    expect((await published('--key', 'next.key')).code).toBe(0)
    await writeFile(file('index.json.part'), await readFile(file('index.json')))
    await writeFile(file('index.json'), before)
    // The next run fails as well, while it writes its partial files.
    await mkdir(file('index.json.sig.part'))
    expect((await published('--key', 'next.key')).code).toBe(1)
    await writeFile(file('index.json.part'), 'half of')
    await rmdir(file('index.json.sig.part'))
    expect((await published('--key', 'next.key')).code).toBe(0)
  })

  test('refuses to run while another process publishes, and ignores the lock of a killed process', async () => {
    await writeFile(file('.publishing'), String(process.pid))
    expect(await published('--key', 'next.key')).toMatchObject({
      code: 1,
      err: expect.stringContaining('someone else is publishing there'),
    })
    // A lock without a process id yet, then the lock of a killed process.
    await writeFile(file('.publishing'), '')
    expect((await published('--key', 'next.key')).code).toBe(1)
    await writeFile(file('.publishing'), '99999999')
    expect((await published('--key', 'next.key')).code).toBe(0)
    await expect(readFile(file('.publishing'))).rejects.toThrow('ENOENT')
  })

  test('does not sign an index that every host would reject', async () => {
    const before = await readFile(file('index.json'))
    const mirrors = Array.from({ length: 11 }, (_, n) => [
      '--mirror',
      `https://m${n}.example`,
    ]).flat()
    for (const [flags, words] of [
      [['--days', '99999999'], 'days at most: write fewer --days'],
      [mirrors, 'mirrors is wrong: an index names 10 mirrors at most'],
      [['--mirror', 'https://a.example?q=1'], 'is not a mirror'],
    ] as const)
      expect(await published('--key', 'next.key', ...flags)).toMatchObject({
        code: 1,
        err: expect.stringContaining(words),
      })
    expect(await readFile(file('index.json'))).toEqual(before)
  })

  test('does not write through a symbolic link in the folder', async () => {
    const victim = path.join(host.home, 'victim')
    await writeFile(victim, 'untouched')
    await symlink(victim, file('index.json.part'))
    expect((await published('--key', 'next.key')).code).toBe(0)
    expect(await readFile(victim, 'utf8')).toBe('untouched')
    expect((await lstat(file('index.json'))).isFile()).toBe(true)
  })

  test('refuses a signature file that belongs to another package', async () => {
    const at = (name: string) => path.resolve(host.home, name)
    await copyFile(at(first), at('copy.tgz'))
    await copyFile(at(second), at('other.tgz'))
    await host.keyway('sign', 'other.tgz', '--key', 'next.key')
    await rename(at('other.tgz.sig'), at('copy.tgz.sig'))
    expect(await published('copy.tgz', '--key', 'next.key')).toMatchObject({
      code: 1,
      err: expect.stringContaining('copy.tgz.sig: it is not the signature of this key'),
    })
  })
})

describe('keyway install', () => {
  test('in a dry run shows what the connector wants, and stores nothing', async () => {
    const { code, out } = await host.keyway('install', first, '--dry-run')
    expect(code).toBe(0)
    expect(out).toMatch(/^acme 1\.0\.0: not signed by anyone you trust, digest [0-9a-f]{12}$/m)
    expect(out).toMatch(/It wants, but is not granted, to:\n {2}send GET, HEAD to https:\/\/api/)
    expect(out).toContain('Would change (nothing was changed):')
    expect(out).toMatch(
      /It would not be activated before that is granted\. Run this again with --grant/,
    )
    expect((await host.keyway('show', 'acme')).code).toBe(1)
  })

  test('in a dry run of a stored version says whether it would serve', async () => {
    await host.keyway('install', first, '--no-activate')
    const waits = await host.keyway('install', first, '--dry-run')
    expect(waits).toMatchObject({
      code: 0,
      out: expect.stringContaining('would not be activated before that is granted'),
    })
    const { out } = await host.keyway('install', first, '--dry-run', '--grant-all')
    expect(out).toMatch(/nothing was changed\):\n {2}acme: serves 1\.0\.0/)
  })

  test('exits with 3 if grants are missing, and prints the flags that give them', async () => {
    const { code, err } = await host.keyway('install', first)
    expect(code).toBe(3)
    expect(err).toMatch(/acme 1\.0\.0 is stored but not active/)
    const [, each = ''] = /some of: (.*)/.exec(err) ?? []
    const wants = [...each.matchAll(/--grant '([^']+)'/g)].map(([, want]) => want ?? '')
    expect(wants).toEqual([
      'capability validate_credentials',
      'egress https://api.acme.example',
      'capability list_accounts',
    ])
    const granted = await host.keyway(
      ...['install', first, ...wants.flatMap((want) => ['--grant', want])],
    )
    expect(granted).toMatchObject({ code: 0, out: expect.stringContaining('serves 1.0.0') })
  })

  test('activates at once with --grant-all, and records the reason in the history', async () => {
    const { code, out } = await host.keyway(
      'install',
      first,
      '--grant-all',
      '--reason',
      'for sales',
    )
    expect(code).toBe(0)
    expect(out).toMatch(/Generation \d+, served by all hosts:\n {2}acme: 1\.0\.0 installed/)
    // Each grant is listed once: before it is asked for, and afterwards with who gave it.
    expect(out.match(/send GET, HEAD to https:\/\/api/g)).toHaveLength(1)
    expect(out).toContain('acme: is granted everything listed above')
    const shown = (await host.keyway('show', 'acme')).out
    expect(shown).toContain('Everything that the active version wants is granted.')
    expect(shown.match(/^ +egress https:\/\/api/gm)).toHaveLength(1)
    // What several capabilities send is listed once.
    expect(shown.match(/^ +GET, HEAD https:\/\/api\S* for (.*)$/gm)).toEqual([
      expect.stringMatching(/ for list_accounts, validate_credentials$/),
    ])
    expect((await host.keyway('history', '--limit', '1')).out).toMatch(/activate by .*: for sales/)
    expect((await host.keyway('list')).out).toMatch(/^acme +1\.0\.0 +installed +ready$/m)
    expect((await host.keyway('show', 'acme')).out).toMatch(/^ {2}\* 1\.0\.0 .*untrusted/m)
  })

  test('only stores the package with --no-activate', async () => {
    expect((await host.keyway('install', first, '--no-activate')).code).toBe(0)
    expect((await host.json('show', 'acme')).answer).toMatchObject({ active: null, grants: [] })
  })

  test('obeys --expect, which its own first step does not violate', async () => {
    const expected = String(await newest())
    const done = await host.keyway('install', first, '--grant-all', '--expect', expected)
    expect(done).toMatchObject({ code: 0, err: '' })
    const again = await host.json('disable', 'acme', '--expect', expected)
    expect(again).toMatchObject({ code: 1, answer: { error: { message: /./ } } })
  })

  test('prints the findings of a refused package', async () => {
    const broken = await packaged({ version: '1.2.0' }, "throw new Error('not today')")
    const { code, out, err } = await host.keyway('install', await host.saved(broken))
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('not today')
    const { answer } = await host.json('install', await host.saved(broken))
    expect(answer.package.findings[0]).toMatchObject({ severity: 'error' })
  })

  test.each([
    ['nowhere.tgz', /there is no file nowhere\.tgz/],
    ['notes.txt', /The package was not installed/],
  ])('of %s is refused with a message', async (name, words) => {
    await host.file('notes.txt', 'no package')
    expect(await host.keyway('install', name)).toMatchObject({
      code: 1,
      err: expect.stringMatching(words),
    })
  })
})

describe('keyway upgrade', () => {
  test('to a version that wants more waits for the grant, and shows the new host', async () => {
    await host.keyway('install', first, '--grant-all')
    const waits = await host.keyway('upgrade', second)
    expect(waits).toMatchObject({ code: 3 })
    expect(waits.out).toMatch(/replaces 1\.0\.0\n.*\n {2}send .* to https:\/\/files\.acme\.example/)
    expect((await host.keyway('list')).out).toMatch(/^acme +1\.0\.0/m)
    const done = await host.keyway('upgrade', second, '--grant', 'egress')
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining('acme: 1.0.0 → 1.1.0') })
  })

  test('switches to an installed version, and to an older one only with --allow-downgrade', async () => {
    await host.keyway('install', first, '--grant-all')
    await host.keyway('upgrade', second, '--grant-all')
    const older = await host.keyway('upgrade', 'acme', '--to', '1.0.0')
    expect(older).toMatchObject({
      code: 1,
      err: expect.stringMatching(/1\.0\.0 is older: .*--allow-downgrade/),
    })
    const back = await host.keyway(
      ...['upgrade', 'acme', '--to', made.digest.slice(0, 8), '--allow-downgrade'],
    )
    expect(back).toMatchObject({ code: 0, out: expect.stringContaining('acme: 1.1.0 → 1.0.0') })
    expect((await host.keyway('upgrade', 'acme', '--to', '3.0.0')).err).toMatch(
      /no installed version "3\.0\.0"; there are 1\.0\.0/,
    )
  })

  test('to a stored version without its grants exits with 3, also with --json', async () => {
    await host.keyway('install', first, '--grant-all')
    await host.keyway('install', second, '--no-activate')
    const waits = await host.keyway('upgrade', 'acme', '--to', '1.1.0')
    expect(waits).toMatchObject({ code: 3, err: expect.stringContaining('--grant-all') })
    const result = await host.json('upgrade', 'acme', '--to', '1.1.0')
    expect(result).toMatchObject({ code: 3, answer: { wants: [{ kind: 'egress' }, {}, {}, {}] } })
  })

  test('of an id without --to says what is missing', async () => {
    expect((await host.keyway('upgrade', 'acme')).err).toContain('keyway upgrade ID --to VERSION')
  })
})

describe('keyway rollback', () => {
  test('restores the versions of a generation; diff shows the changes', async () => {
    await host.keyway('install', first, '--grant-all')
    const at = await newest()
    await host.keyway('upgrade', second, '--grant-all')
    expect((await host.keyway('diff', String(at))).out).toContain('acme: 1.0.0 → 1.1.0')
    const dry = await host.keyway('rollback', String(at), '--dry-run')
    expect(dry.out).toMatch(/nothing was changed\):\n {2}acme: 1\.1\.0 → 1\.0\.0/)
    const done = await host.keyway('rollback', String(at), '--reason', 'lists nobody')
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining('acme: 1.1.0 → 1.0.0') })
    const { answer } = await host.json('history', '--limit', '1')
    expect(answer.items[0]).toMatchObject({ action: 'rollback', reason: 'lists nobody' })
    const older = await host.json('history', '--before', String(at + 1), '--limit', '1')
    expect(older.answer.items[0].generation).toBe(at)
  })

  test('to a version whose grant was revoked waits for the grant', async () => {
    await host.keyway('install', first, '--grant-all')
    const at = String(await newest())
    await host.keyway('upgrade', second, '--grant-all')
    await host.keyway('revoke', 'acme', 'egress https://api.acme.example')
    const waits = await host.keyway('rollback', at)
    expect(waits).toMatchObject({ code: 3, err: expect.stringContaining('--grant-all') })
    expect((await host.keyway('rollback', at, '--grant-all')).code).toBe(0)
  })

  test('to an unknown generation is refused', async () => {
    expect(await host.keyway('rollback', '99999')).toMatchObject({
      code: 1,
      err: expect.stringContaining('There is no generation 99999'),
    })
    expect((await host.keyway('rollback', 'last')).code).toBe(2)
  })
})

describe('keyway disable, enable and remove', () => {
  test('stop a connector, start it again, and remove it', async () => {
    await host.keyway('install', first, '--grant-all')
    expect((await host.keyway('disable', 'acme', '--now')).out).toContain('disabled at once')
    expect((await host.keyway('list')).out).toMatch(/^acme +1\.0\.0 +installed +disabled/m)
    expect((await host.keyway('disable', 'acme', '--now')).out).toMatch(/^Nothing to do/)
    expect((await host.keyway('enable', 'acme')).out).toContain('acme: enabled')
    expect((await host.keyway('remove', 'acme', '--dry-run')).out).toContain('acme: removed')
    expect((await host.keyway('remove', 'acme')).code).toBe(0)
    expect(await host.keyway('remove', 'acme')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/acme/),
    })
  })
})

test('wrong usage exits with 2, and an unreachable host with 1', async () => {
  expect((await host.keyway('instal', first)).code).toBe(2)
  expect((await host.keyway('install')).code).toBe(2)
  expect((await host.keyway('list', '--limit', '3')).code).toBe(2)
  const nobody = await host.keyway('list', '--url', 'http://127.0.0.1:1')
  expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining('No Keyway answers') })
})
