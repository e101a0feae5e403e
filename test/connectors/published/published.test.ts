/** What an index of a registry says, and what of it is believed. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { PackageError, packageOf } from '../../../runtime/connectors/packages/format.ts'
import { makeKeyPair, signPackage, signText } from '../../../runtime/connectors/packages/sign.ts'
import { writePackage } from '../../../runtime/connectors/packages/write.ts'
import {
  INDEX_FORM,
  logoFile,
  type PublishedVersion,
  packageFile,
  parseIndex,
  readIndex,
} from '../../../runtime/connectors/published/form.ts'
import { fetchPackage, openRegistry } from '../../../runtime/connectors/published/open.ts'
import {
  type Addition,
  demandFresh,
  newerOf,
  newestHere,
  nextIndex,
  parseName,
  pick,
  searched,
} from '../../../runtime/connectors/published/rules.ts'
import { type Source, SourceError, sourceOf } from '../../../runtime/connectors/published/source.ts'
import { newFolder } from '../../kit/folder.ts'

const NOW = new Date('2026-11-01T00:00:00.000Z')
const at = (days: number) => new Date(NOW.getTime() + days * 86_400_000)

const version = (name: string, more: Partial<PublishedVersion> = {}): PublishedVersion => ({
  ...{ version: name, digest: 'a'.repeat(64), bytes: 100, runtime: '^1.0.0', signed: true },
  wants: [{ kind: 'capability', subject: 'list_accounts', words: 'offers list_accounts' }],
  ...more,
})
const addition = (name: string, more: Partial<Addition> = {}): Addition => ({
  ...{ id: 'acme', name: 'Acme', description: 'People of Acme', logo: null },
  version: version(name),
  ...more,
})
const indexOf = (...additions: Addition[]) => nextIndex(null, additions, { now: NOW, days: 90 })
const acme = (...versions: string[]) => indexOf(...versions.map((one) => addition(one)))

describe('publishing', () => {
  test('puts the newest first, keeps what there was, and grows', () => {
    const first = acme('1.0.0', '1.10.0', '1.9.0')
    expect(first.connectors[0]?.versions.map((one) => one.version)).toEqual([
      ...['1.10.0', '1.9.0', '1.0.0'],
    ])
    const other = addition('0.1.0', { id: 'other' })
    const second = nextIndex(first, [other], { now: NOW, days: 1 })
    expect(second.connectors.map(({ id }) => id)).toEqual(['acme', 'other'])
    expect(second.version).toBe(first.version + 1)
    expect(second.expires_at).toBe(at(1).toISOString())
    expect(nextIndex(null, [], { now: at(1), days: 1 }).version).toBeGreaterThan(second.version)
  })

  test('an older version changes nothing of what is shown, a newer one does', () => {
    const older = addition('0.9.0', { name: 'Old name' })
    const newer = addition('2.0.0', { name: 'New name' })
    const shown = (one: Addition) =>
      nextIndex(acme('1.0.0'), [one], { now: NOW, days: 1 }).connectors[0]?.name
    expect(shown(older)).toBe('Acme')
    expect(shown(newer)).toBe('New name')
  })

  test('a clock that was set back would make an index that has expired', () => {
    expect(() => nextIndex(acme('1.0.0'), [], { now: at(-2), days: 90 })).toThrow(
      /the clock of this machine says/,
    )
    // It may have been wrong when that one was published: no host has believed it then.
    expect(() => nextIndex(acme('1.0.0'), [], { now: at(-2), days: 90 })).toThrow(
      /where it was wrong then, take that index away, and publish all packages again$/,
    )
  })

  test('a version never changes', () => {
    const again = (digest: string) =>
      nextIndex(acme('1.0.0'), [addition('1.0.0', { version: version('1.0.0', { digest }) })], {
        ...{ now: NOW, days: 1 },
      })
    expect(again('a'.repeat(64)).connectors[0]?.versions).toHaveLength(1)
    expect(() => again('b'.repeat(64))).toThrow(/a version never changes/)
  })
})

describe('reading', () => {
  const [pair, other] = [makeKeyPair(), makeKeyPair()]
  const trusted = [{ key: pair.id, name: 'Acme', public_key: pair.publicKey, revoked_at: null }]
  const text = JSON.stringify(acme('1.0.0'))
  const signed = (what = text, by = pair, form = INDEX_FORM) =>
    JSON.stringify(signText(form, what, by.privateKey))

  test('what a trusted key has signed', () => {
    expect(readIndex(text, signed(), trusted)).toMatchObject({ publisher: 'Acme', key: pair.id })
  })

  test.each([
    ['another key', text, signed(text, other), /which is not trusted; .*keyway trust/],
    ['a changed text', `${text} `, signed(), /not the signature of Acme/],
    ['a signature of a package', text, signed(text, pair, 'keyway-package-1'), /not the form/],
    ['no signature', text, '{}', /not the form/],
    ['what is no index', '[]', signed('[]'), /the index: form is wrong/],
    [
      'another form',
      '{"form":"keyway-index-2"}',
      signed('{"form":"keyway-index-2"}'),
      /reads keyway-index-1/,
    ],
  ])('%s is refused', (_, what, signature, words) => {
    expect(() => readIndex(what, signature, trusted)).toThrow(words)
  })

  test('a key that was revoked counts no more', () => {
    const revoked = trusted.map((one) => ({ ...one, revoked_at: NOW.toISOString() }))
    expect(() => readIndex(text, signed(), revoked)).toThrow(/no longer trusted/)
    // No mirror has another one.
    expect(() => readIndex(text, signed(), revoked)).toThrow(
      /its publisher must sign it by a key that you trust$/,
    )
  })

  test.each([
    ['an id that leads elsewhere', { id: '../../etc' }],
    ['a digest that is none', { versions: [version('1.0.0', { digest: '../x' })] }],
    ['a package larger than may be', { versions: [version('1.0.0', { bytes: 2 ** 30 })] }],
    ['a member that is not known', { script: 'x' }],
    ['no version', { versions: [] }],
    ['a version that is none', { versions: [version('latest')] }],
    ['a version with a line behind it', { versions: [version('1.0.0\n')] }],
    ['a version in another spelling', { versions: [version('v1.0.0')] }],
    ['a version twice', { versions: [version('1.0.0'), version('1.0.0', { bytes: 1 })] }],
  ])('%s is refused', (_, change) => {
    const { connectors, ...index } = acme('1.0.0')
    const wrong = { ...index, connectors: [{ ...connectors[0], ...change }] }
    expect(() => parseIndex(JSON.stringify(wrong))).toThrow(/the index: connectors/)
  })

  test('a connector that is listed twice is refused', () => {
    const { connectors, ...index } = acme('1.0.0')
    const twice = [...connectors, ...connectors]
    const text = JSON.stringify({ ...index, connectors: twice })
    expect(() => parseIndex(text)).toThrow(/the index: connectors .*twice/)
  })

  test('a page to sign in is told from an index', () => {
    expect(() => readIndex('<html>Sign in</html>', '<html>', trusted)).toThrow(
      /no index of a registry \(it begins with "<html>/,
    )
  })

  test('names of files stay in the folder, whatever a version is called', () => {
    expect(packageFile('acme', version('1.0.0-a/../../b'))).toBe(
      'packages/acme-1.0.0-a_.._.._b-aaaaaaaaaaaa.tgz',
    )
    expect(logoFile({ id: 'acme', logo: { kind: 'svg', sha256: 'c'.repeat(64) } })).toBe(
      'logos/acme-cccccccccccc.svg',
    )
  })

  test('an index that has expired, or is to come, is refused', () => {
    const index = acme('1.0.0')
    expect(() => demandFresh(index, at(89))).not.toThrow()
    expect(() => demandFresh(index, at(90))).toThrow(/expired at/)
    // Once seen, it would have every later index refused as an older one.
    expect(() => demandFresh(index, at(-2))).toThrow(/is to come/)
    expect(() => demandFresh({ ...index, version: 9e15 }, at(1))).toThrow(/is to come/)
  })
})

describe('choosing', () => {
  const index = indexOf(
    ...['1.0.0', '1.2.0', '2.0.0-beta.1'].map((one) => addition(one)),
    addition('1.3.0', { version: version('1.3.0', { runtime: '^99.0.0' }) }),
  )

  test.each([
    ['acme', '1.2.0'],
    ['acme@1.0.0', '1.0.0'],
    ['acme@^1', '1.2.0'],
    ['acme@>=1 <1.2', '1.0.0'],
    ['acme@^2.0.0-beta', '2.0.0-beta.1'],
  ])('%s is %s', (name, wanted) => {
    expect(pick(index, parseName(name) ?? { id: '', range: '' }).version.version).toBe(wanted)
  })

  test.each([
    ['other', /no connector other/],
    ['acme@nothing', /no range of versions/],
    ['acme@^3', /there are 2\.0\.0-beta\.1, 1\.3\.0, 1\.2\.0, 1\.0\.0/],
    ['acme@1.3.0', /needs the runtime \^99/],
  ])('%s is refused', (name, words) => {
    expect(() => pick(index, parseName(name) ?? { id: '', range: '' })).toThrow(words)
  })

  test.each(['', '@1', './acme', 'acme-1.0.0.tgz', 'https://x.example/acme'])(
    '%s names no connector',
    (text) => expect(parseName(text)).toBeNull(),
  )

  test('a version of a build is that build, whatever was published first', () => {
    const of = (name: string, ...versions: string[]) =>
      pick(acme(...versions), parseName(name) ?? { id: '', range: '' }).version.version
    const builds = ['1.2.0+b', '1.2.0+a', '1.1.0']
    for (const all of [builds, [...builds].reverse()]) {
      for (const build of ['1.2.0+a', '1.2.0+b']) expect(of(`acme@${build}`, ...all)).toBe(build)
      expect(of('acme@1.2.0', ...all)).toBe('1.2.0+b')
      expect(of('acme@1.2.0', ...all, '1.2.0')).toBe('1.2.0')
      expect(of('acme', ...all)).toBe('1.2.0+b')
      expect(() => of('acme@1.2.0+c', ...all)).toThrow(/there is no acme of 1\.2\.0\+c/)
    }
  })

  test('what is older than what runs here is outdated', () => {
    const of = (version: string, id = 'acme') => newerOf(index, { id, version })[0]?.version.version
    expect(of('1.0.0')).toBe('1.2.0')
    expect(of('1.2.0')).toBeUndefined()
    expect(of('1.0.0', 'none')).toBeUndefined()
  })

  test('a search finds all of its words', () => {
    const found = (...words: string[]) => searched(index, words).map(({ id }) => id)
    expect(found()).toEqual(['acme'])
    expect(found('PEOPLE', 'list_accounts')).toEqual(['acme'])
    expect(found('people', 'nothing')).toEqual([])
  })

  test('what is shown as the newest is what an install takes, else the newest before a release', () => {
    expect(newestHere(index.connectors[0]?.versions ?? [])?.version).toBe('1.2.0')
    const early = acme('1.0.0-beta.1', '1.0.0-beta.2').connectors[0]?.versions ?? []
    expect(newestHere(early)?.version).toBe('1.0.0-beta.2')
    expect(newestHere([version('1.0.0', { runtime: '^99.0.0' })])).toBeUndefined()
  })

  test('a search for an id has it first', () => {
    const many = indexOf(
      ...['aaa', 'acme-crm', 'zoo'].map((id) =>
        addition('1.0.0', { id, name: id, description: 'beside a zoo and acme_crm' }),
      ),
    )
    const found = (...words: string[]) => searched(many, words).map(({ id }) => id)
    expect(found('ZOO')).toEqual(['zoo', 'aaa', 'acme-crm'])
    expect(found('acme_crm')).toEqual(['acme-crm', 'aaa', 'zoo'])
    expect(found('beside')).toEqual(['aaa', 'acme-crm', 'zoo'])
    expect(found()).toEqual(['aaa', 'acme-crm', 'zoo'])
  })
})

describe('mirrors', () => {
  const [pair, other] = [makeKeyPair(), makeKeyPair()]
  const trusted = [{ key: pair.id, name: 'Acme', public_key: pair.publicKey, revoked_at: null }]
  const FIRST = 'https://one.example'
  const MIRROR = 'https://two.example'

  /** Web servers that hold these files, by their address. */
  function web(servers: Record<string, Record<string, string | Buffer>>) {
    const asked: string[] = []
    const at = (address: string): Source => ({
      address,
      mirror: (other) => (sourceOf(address, 1).mirror(other) === null ? null : at(other)),
      read: async (file) => {
        asked.push(address)
        const content = servers[address]?.[file]
        if (content === undefined) throw new SourceError(`${file} is not there`)
        return Buffer.from(content)
      },
    })
    return { at, asked }
  }
  const DAY_MS = 86_400_000
  const indexed = (days: number, mirrors: string[], by = pair) => {
    const now = new Date(Date.now() - 10 * DAY_MS)
    const text = JSON.stringify(nextIndex(null, [addition('1.0.0')], { now, days, mirrors }))
    const signature = JSON.stringify(signText(INDEX_FORM, text, by.privateKey))
    return { 'index.json': text, 'index.json.sig': signature }
  }
  const opened = (
    servers: Record<string, Record<string, string | Buffer>>,
    seen: () => Promise<void> = async () => undefined,
  ) => {
    const { at, asked } = web(servers)
    return { asked, registry: openRegistry([at(FIRST)], trusted, seen) }
  }

  test('an index keeps its mirrors until it is given others', () => {
    const first = nextIndex(null, [], { now: NOW, days: 1, mirrors: [MIRROR] })
    expect(nextIndex(first, [], { now: NOW, days: 1 }).mirrors).toEqual([MIRROR])
    expect(nextIndex(first, [], { now: NOW, days: 1, mirrors: [] }).mirrors).toEqual([])
    const { mirrors: _none, ...before } = first
    expect(parseIndex(JSON.stringify(before)).mirrors).toEqual([])
    const many = { ...first, mirrors: Array.from({ length: 11 }, () => MIRROR) }
    expect(() => parseIndex(JSON.stringify(many))).toThrow(/the index: mirrors/)
  })

  test('of an index that has expired are asked for a newer one', async () => {
    const { registry } = opened({ [FIRST]: indexed(1, [MIRROR]), [MIRROR]: indexed(90, []) })
    expect((await registry).source.address).toBe(MIRROR)
  })

  test('of an older index than was seen are asked, and remembered like the first', async () => {
    const versions: string[] = []
    const seen = async () => {
      versions.push('asked')
      if (versions.length === 1) throw new PackageError('it is an older one')
    }
    const servers = { [FIRST]: indexed(90, [MIRROR]), [MIRROR]: indexed(90, []) }
    expect((await opened(servers, seen).registry).source.address).toBe(MIRROR)
    expect(versions).toHaveLength(2)
  })

  test('are checked as strictly as the first, each once', async () => {
    const circle = opened({
      [FIRST]: indexed(1, [MIRROR, FIRST]),
      [MIRROR]: indexed(1, [FIRST, MIRROR]),
    })
    await expect(circle.registry).rejects.toThrow(
      /one\.example: .*expired[\s\S]*two\.example: .*expired/,
    )
    expect(circle.asked).toEqual([FIRST, FIRST, MIRROR, MIRROR])
    const stranger = opened({ [FIRST]: indexed(1, [MIRROR]), [MIRROR]: indexed(90, [], other) })
    await expect(stranger.registry).rejects.toThrow(/two\.example: .*not trusted/)
  })

  test('that an index names whose signature is not trusted are never asked', async () => {
    const { asked, registry } = opened({ [FIRST]: indexed(1, [MIRROR], other) })
    await expect(registry).rejects.toThrow(/not trusted/)
    expect(asked).not.toContain(MIRROR)
  })

  test('have the package where the first has none, or another one', async () => {
    const MANIFEST = { id: 'acme', version: '1.0.0', runtime: '^1.0.0' }
    const packageWith = (code: string) =>
      packageOf(
        MANIFEST,
        new Map([
          ['connector.json', Buffer.from(JSON.stringify(MANIFEST))],
          ['code.js', Buffer.from(code)],
        ]),
      )
    const whole = packageWith('export default {}')
    const packed = await writePackage(whole)
    const changed = await writePackage(packageWith('export default []'))
    const named = version('1.0.0', { digest: whole.digest, bytes: packed.length, signed: false })
    const file = packageFile('acme', named)
    const connector = { id: 'acme', name: 'Acme', description: '', logo: null, versions: [named] }
    for (const first of [{}, { [file]: changed }, { [file]: 'no package' }]) {
      const { at } = web({ [FIRST]: first, [MIRROR]: { [file]: packed } })
      const { registry } = opened({ [FIRST]: indexed(90, [MIRROR]) })
      expect((await registry).sources.map(({ address }) => address)).toContain(MIRROR)
      const from = (...addresses: string[]) => ({ sources: addresses.map(at), publishers: trusted })
      const found = await fetchPackage({ connector, version: named }, from(FIRST, MIRROR))
      expect(found.packed.equals(packed)).toBe(true)
      await expect(fetchPackage({ connector, version: named }, from(FIRST))).rejects.toThrow(
        /one\.example: /,
      )
    }
  })

  describe('of a package that has a signature of its own', () => {
    const MANIFEST = { id: 'acme', version: '1.0.0', runtime: '^1.0.0' }
    const content = new Map([
      ['connector.json', Buffer.from(JSON.stringify(MANIFEST))],
      ['code.js', Buffer.from('export default {}')],
    ])
    const whole = packageOf(MANIFEST, content)
    const signedBy = (by: typeof pair) => JSON.stringify(signPackage(whole, by.privateKey))

    async function fetchedFrom(signatures: string[], more: { id?: string; version?: string } = {}) {
      const packed = await writePackage(whole)
      const facts = { digest: whole.digest, bytes: packed.length, signed: true }
      const named = version(more.version ?? '1.0.0', facts)
      const id = more.id ?? 'acme'
      const file = packageFile(id, named)
      const addresses = signatures.map((_, n) => `https://mirror-${n}.example`)
      const servers = signatures.map((one, n) => [
        addresses[n],
        { [file]: packed, [`${file}.sig`]: one },
      ])
      const { at } = web(Object.fromEntries(servers))
      const connector = { id, name: 'Acme', description: '', logo: null, versions: [named] }
      const from = { sources: addresses.map(at), publishers: trusted }
      return fetchPackage({ connector, version: named }, from)
    }

    test.each([
      ['another key', signedBy(other)],
      ['nobody', '<html>Sign in</html>'],
      [
        'its key over something else',
        JSON.stringify(signText('keyway-package-1', 'x', pair.privateKey)),
      ],
    ])('one of %s is passed over for the next mirror, or refused', async (_, wrong) => {
      const { signature } = await fetchedFrom([wrong, signedBy(pair)])
      expect(signature?.toString('utf8')).toBe(signedBy(pair))
      await expect(fetchedFrom([wrong])).rejects.toThrow(/mirror-0\.example: packages\/acme/)
    })

    test('a key that is not trusted is named, with what to do', async () => {
      await expect(fetchedFrom([signedBy(other)])).rejects.toThrow(
        new RegExp(`signed by the key ${other.id}, which is not trusted.*keyway trust`),
      )
    })

    test.each([{ id: 'payroll' }, { version: '2.0.0' }])(
      'a package that is listed as %o is refused',
      async (more) => {
        await expect(fetchedFrom([signedBy(pair)], more)).rejects.toThrow(
          /is acme 1\.0\.0, and the index lists it as/,
        )
      },
    )
  })

  test('an index and a signature that are replaced one after the other are read once more', async () => {
    const [before, after] = [indexed(50, []), indexed(80, [])]
    let reads = 0
    const source: Source = {
      ...{ address: FIRST, mirror: () => null },
      read: async (file) => {
        reads += 1
        // The second file is the newer one's.
        const from = reads === 1 ? before : after
        return Buffer.from(from[file === 'index.json' ? 'index.json' : 'index.json.sig'])
      },
    }
    const { index } = await openRegistry([source], trusted, async () => undefined)
    expect([reads, JSON.stringify(index)]).toEqual([4, after['index.json']])
  })

  test.each([
    ['https://one.example', 'https://two.example/x', true],
    ['https://one.example', 'http://127.0.0.1:1/x', false],
    ['https://one.example', '/etc', false],
    ['https://one.example', 'https://name:password@two.example', false],
    ['./folder', 'https://two.example', true],
    ['./folder', '../other', false],
    ['./folder', 'http://localhost/', false],
    ['http://127.0.0.1:1', 'http://localhost:2', true],
    ['http://127.0.0.1:1', 'http://two.example', false],
  ])('an index at %s may name %s: %s', (from, mirror, may) => {
    expect(sourceOf(from, 1).mirror(mirror) !== null).toBe(may)
  })
})

describe('a folder', () => {
  const folder = newFolder('registry')
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each([
    [
      'a pipe that nobody writes to',
      () => execFileSync('mkfifo', [path.join(folder, 'index.json')]),
    ],
    ['a device without an end', () => symlinkSync('/dev/zero', path.join(folder, 'index.json'))],
    ['a folder', () => mkdirSync(path.join(folder, 'index.json'))],
  ])('%s is no file of it', async (_, make) => {
    rmSync(path.join(folder, 'index.json'), { recursive: true, force: true })
    make()
    await expect(sourceOf(folder, 1).read('index.json', 1000)).rejects.toThrow(/is no file/)
  })

  test('a file of the most bytes is read, a larger one is not', async () => {
    writeFileSync(path.join(folder, 'some'), 'abc')
    expect(String(await sourceOf(folder, 1).read('some', 3))).toBe('abc')
    await expect(sourceOf(folder, 1).read('some', 2)).rejects.toThrow(/more than 2 bytes/)
  })
})

test.each([
  ['https://one.example/x?y=1', /leave out what begins with \? or #/],
  ['https://one.example/#x', /leave out what begins with \? or #/],
  ['file:///etc', /the path of a folder/],
  ['', /is empty/],
  [`https://one.example/${'x'.repeat(500)}`, /500 characters at most/],
  [`./${'x/'.repeat(250)}`, /500 characters at most/],
  [`https://one.example/${'ü'.repeat(100)}`, /500 characters at most/],
])('%s is no address of a registry', (address, words) => {
  expect(() => sourceOf(address, 1)).toThrow(words)
})

test.each([
  'https://bob:secret@one.example',
  'https:bob:secret@one.example',
  'https:/bob:secret@one.example',
  'https:///bob:secret@one.example',
  'ftp://bob:secret@one.example',
  'ftp:///bob:secret@one.example',
  'ftp://secret@one.example',
  '//bob:secret@one.example',
  'bob:secret@one.example',
  'https:secret@one.example',
  'https://one.example?token=secret',
])('%s is refused without its login in the words', (address) => {
  expect(() => sourceOf(address, 1)).toThrow(/write https:\/\/host\/path|leave out/)
  expect(() => sourceOf(address, 1)).toThrow(/^(?!.*secret)/)
})

test.each(['./bob:x@one', '/srv/bob:x@one', 'people@acme', 'registry'])(
  '%s is the path of a folder',
  async (address) => {
    const source = sourceOf(address, 1)
    expect(source.address).toBe(address)
    await expect(source.read('index.json', 1)).rejects.toThrow(
      /^index\.json cannot be read: there is none$/,
    )
  },
)

test('a redirect is named, and not followed', async () => {
  const server = createServer((_request, reply) => {
    reply.writeHead(302, { location: 'https://login.example/start?next=1' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const read = sourceOf(`http://127.0.0.1:${port}`, 5000).read('index.json', 1000)
  await expect(read).rejects.toThrow('leads to https://login.example/start: redirects')
  await new Promise((resolve) => server.close(resolve))
})

test('a server that takes calls and never begins to answer is left soon; one that is slow behind its beginning is not', async () => {
  const server = createServer((request, reply) => {
    if (request.url !== '/slow') return
    reply.writeHead(200).write('sl')
    setTimeout(() => reply.end('ow'), 400)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const source = sourceOf(`http://127.0.0.1:${port}`, 60_000, 200)
  await expect(source.read('index.json', 1000)).rejects.toThrow(
    'index.json has not begun to answer within 0.2 s',
  )
  expect(String(await source.read('slow', 1000))).toBe('slow')
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
