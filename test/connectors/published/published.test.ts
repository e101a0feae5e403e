/** The index of a registry, and the checks before it is trusted. */
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
  newerOf,
  newestHere,
  nextIndex,
  parseName,
  pick,
  requireFresh,
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
  test('lists the newest version first, keeps existing entries, and increases the version of the index', () => {
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

  test('an older version does not change the name that is shown, a newer one does', () => {
    const older = addition('0.9.0', { name: 'Old name' })
    const newer = addition('2.0.0', { name: 'New name' })
    const shown = (one: Addition) =>
      nextIndex(acme('1.0.0'), [one], { now: NOW, days: 1 }).connectors[0]?.name
    expect(shown(older)).toBe('Acme')
    expect(shown(newer)).toBe('New name')
  })

  test('is refused when the clock was set back', () => {
    expect(() => nextIndex(acme('1.0.0'), [], { now: at(-2), days: 90 })).toThrow(
      /the clock of this machine says/,
    )
    // The clock may have been wrong at the previous publication. No host has accepted that index then.
    expect(() => nextIndex(acme('1.0.0'), [], { now: at(-2), days: 90 })).toThrow(
      /where it was wrong then, take that index away, and publish all packages again$/,
    )
  })

  test('other content of a published version is refused', () => {
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

  test('accepts what a trusted key has signed', () => {
    expect(readIndex(text, signed(), trusted)).toMatchObject({ publisher: 'Acme', key: pair.id })
  })

  test.each([
    [
      'an index signed by another key',
      text,
      signed(text, other),
      /which is not trusted; .*keyway trust/,
    ],
    ['a changed index', `${text} `, signed(), /not the signature of Acme/],
    ['the signature of a package', text, signed(text, pair, 'keyway-package-1'), /not the form/],
    ['no signature', text, '{}', /not the form/],
    ['an invalid index', '[]', signed('[]'), /the index: form is wrong/],
    [
      'an index of another form',
      '{"form":"keyway-index-2"}',
      signed('{"form":"keyway-index-2"}'),
      /reads keyway-index-1/,
    ],
  ])('%s is refused', (_, what, signature, words) => {
    expect(() => readIndex(what, signature, trusted)).toThrow(words)
  })

  test('a revoked key is refused', () => {
    const revoked = trusted.map((one) => ({ ...one, revoked_at: NOW.toISOString() }))
    expect(() => readIndex(text, signed(), revoked)).toThrow(/no longer trusted/)
    // Every mirror has the same signature.
    expect(() => readIndex(text, signed(), revoked)).toThrow(
      /its publisher must sign it by a key that you trust$/,
    )
  })

  test.each([
    ['an id that leaves the folder', { id: '../../etc' }],
    ['an invalid digest', { versions: [version('1.0.0', { digest: '../x' })] }],
    ['a package over the size limit', { versions: [version('1.0.0', { bytes: 2 ** 30 })] }],
    ['an unknown member', { script: 'x' }],
    ['no version', { versions: [] }],
    ['an invalid version', { versions: [version('latest')] }],
    ['a version with a trailing line break', { versions: [version('1.0.0\n')] }],
    ['a version with a leading v', { versions: [version('v1.0.0')] }],
    ['a duplicate version', { versions: [version('1.0.0'), version('1.0.0', { bytes: 1 })] }],
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

  test('a sign-in page is reported as no index', () => {
    expect(() => readIndex('<html>Sign in</html>', '<html>', trusted)).toThrow(
      /no index of a registry \(it begins with "<html>/,
    )
  })

  test('file names stay within the folder for any version name', () => {
    expect(packageFile('acme', version('1.0.0-a/../../b'))).toBe(
      'packages/acme-1.0.0-a_.._.._b-aaaaaaaaaaaa.tgz',
    )
    expect(logoFile({ id: 'acme', logo: { kind: 'svg', sha256: 'c'.repeat(64) } })).toBe(
      'logos/acme-cccccccccccc.svg',
    )
  })

  test('an index that has expired, or is from the future, is refused', () => {
    const index = acme('1.0.0')
    expect(() => requireFresh(index, at(89))).not.toThrow()
    expect(() => requireFresh(index, at(90))).toThrow(/expired at/)
    // Once accepted, it would make a host refuse every later index as an older one.
    expect(() => requireFresh(index, at(-2))).toThrow(/is to come/)
    expect(() => requireFresh({ ...index, version: 9e15 }, at(1))).toThrow(/is to come/)
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
  ])('%s selects %s', (name, wanted) => {
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

  test('a version with build metadata selects that build, in any order of publication', () => {
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

  test('an installed version is outdated when a newer one runs here', () => {
    const of = (version: string, id = 'acme') => newerOf(index, { id, version })[0]?.version.version
    expect(of('1.0.0')).toBe('1.2.0')
    expect(of('1.2.0')).toBeUndefined()
    expect(of('1.0.0', 'none')).toBeUndefined()
  })

  test('a search matches all of its words', () => {
    const found = (...words: string[]) => searched(index, words).map(({ id }) => id)
    expect(found()).toEqual(['acme'])
    expect(found('PEOPLE', 'list_accounts')).toEqual(['acme'])
    expect(found('people', 'nothing')).toEqual([])
  })

  test('the version shown as newest is the one that an install takes, else the newest prerelease', () => {
    expect(newestHere(index.connectors[0]?.versions ?? [])?.version).toBe('1.2.0')
    const early = acme('1.0.0-beta.1', '1.0.0-beta.2').connectors[0]?.versions ?? []
    expect(newestHere(early)?.version).toBe('1.0.0-beta.2')
    expect(newestHere([version('1.0.0', { runtime: '^99.0.0' })])).toBeUndefined()
  })

  test('a search for an id lists that connector first', () => {
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

  /** Web servers with these files, by address. */
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

  test('stay in an index until it is given others', () => {
    const first = nextIndex(null, [], { now: NOW, days: 1, mirrors: [MIRROR] })
    expect(nextIndex(first, [], { now: NOW, days: 1 }).mirrors).toEqual([MIRROR])
    expect(nextIndex(first, [], { now: NOW, days: 1, mirrors: [] }).mirrors).toEqual([])
    const { mirrors: _none, ...before } = first
    expect(parseIndex(JSON.stringify(before)).mirrors).toEqual([])
    const many = { ...first, mirrors: Array.from({ length: 11 }, () => MIRROR) }
    expect(() => parseIndex(JSON.stringify(many))).toThrow(/the index: mirrors/)
  })

  test('are asked for a newer index when the first has expired', async () => {
    const { registry } = opened({ [FIRST]: indexed(1, [MIRROR]), [MIRROR]: indexed(90, []) })
    expect((await registry).source.address).toBe(MIRROR)
  })

  test('are asked when the index is older than one seen before, and are recorded like the first', async () => {
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

  test('are never asked when the signature of their index is not trusted', async () => {
    const { asked, registry } = opened({ [FIRST]: indexed(1, [MIRROR], other) })
    await expect(registry).rejects.toThrow(/not trusted/)
    expect(asked).not.toContain(MIRROR)
  })

  test('supply the package when the first has none or another one', async () => {
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

  describe('of a package with a signature of its own', () => {
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
      ['a signature by another key', signedBy(other)],
      ['an HTML page in place of a signature', '<html>Sign in</html>'],
      [
        'a signature over another text',
        JSON.stringify(signText('keyway-package-1', 'x', pair.privateKey)),
      ],
    ])('%s is skipped for the signature of the next mirror, or refused', async (_, wrong) => {
      const { signature } = await fetchedFrom([wrong, signedBy(pair)])
      expect(signature?.toString('utf8')).toBe(signedBy(pair))
      await expect(fetchedFrom([wrong])).rejects.toThrow(/mirror-0\.example: packages\/acme/)
    })

    test('an untrusted key is named, with the command to trust it', async () => {
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

  test('an index and its signature are read again when they are replaced between the two reads', async () => {
    const [before, after] = [indexed(50, []), indexed(80, [])]
    let reads = 0
    const source: Source = {
      ...{ address: FIRST, mirror: () => null },
      read: async (file) => {
        reads += 1
        // The second file belongs to the newer index.
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

describe('a registry in a folder', () => {
  const folder = newFolder('registry')
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each([
    ['a pipe without a writer', () => execFileSync('mkfifo', [path.join(folder, 'index.json')])],
    ['an endless device', () => symlinkSync('/dev/zero', path.join(folder, 'index.json'))],
    ['a folder', () => mkdirSync(path.join(folder, 'index.json'))],
  ])('refuses %s in place of a file', async (_, make) => {
    rmSync(path.join(folder, 'index.json'), { recursive: true, force: true })
    make()
    await expect(sourceOf(folder, 1).read('index.json', 1000)).rejects.toThrow(/is no file/)
  })

  test('reads a file of the maximum size, and refuses a larger one', async () => {
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
])('%s is not a valid address of a registry', (address, words) => {
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
])('%s is refused with a message that does not contain its secret', (address) => {
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

test('a redirect is reported, and not followed', async () => {
  const server = createServer((_request, reply) => {
    reply.writeHead(302, { location: 'https://login.example/start?next=1' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const read = sourceOf(`http://127.0.0.1:${port}`, 5000).read('index.json', 1000)
  await expect(read).rejects.toThrow('leads to https://login.example/start: redirects')
  await new Promise((resolve) => server.close(resolve))
})

test('a read times out soon if no reply begins, but not if a reply that has begun is slow', async () => {
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
