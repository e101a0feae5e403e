/** Packages as Keyway writes them, and as attackers craft them. */
import { gunzipSync, gzipSync } from 'node:zlib'
import { packTar, unpackTar } from 'modern-tar'
import { describe, expect, test } from 'vitest'
import { packageOf, sha256 } from '../../../runtime/connectors/packages/format.ts'
import { readPackage } from '../../../runtime/connectors/packages/read.ts'
import { writePackage } from '../../../runtime/connectors/packages/write.ts'

const MANIFEST = { id: 'acme', version: '1.2.3', runtime: '^1.0.0' }
const FILES: [string, string][] = [
  ['connector.json', JSON.stringify(MANIFEST)],
  ['code.js', 'export default {}'],
  ['README.md', '# Acme'],
]
const files = (more: [string, string][] = []) =>
  new Map([...FILES, ...more].map(([name, text]) => [name, Buffer.from(text)]))
const whole = packageOf(MANIFEST, files())

test('a package is read as it was written', async () => {
  const read = await readPackage(await writePackage(whole))
  expect(read).toEqual(whole)
  expect(read.digests).toMatchObject({ format: 1, id: 'acme', version: '1.2.3' })
})

test('the same files give the same bytes, in any order and at any time', async () => {
  const turned = packageOf(MANIFEST, new Map([...files()].reverse()))
  const [first, second] = [await writePackage(whole), await writePackage(turned)]
  expect(second.equals(first)).toBe(true)
  const entries = await unpackTar(new Uint8Array(gunzipSync(first)))
  expect(entries.map(({ header }) => header.name)).toEqual([
    'digests.json',
    'README.md',
    'code.js',
    'connector.json',
  ])
  for (const { header } of entries)
    expect(header).toMatchObject({ uid: 0, gid: 0, mode: 0o644, mtime: new Date(0) })
})

test('other content has another digest', () => {
  expect(packageOf(MANIFEST, files([['code.js.map', '{}']])).digest).not.toBe(whole.digest)
})

type Entry = Parameters<typeof packTar>[0][number]
const file = (name: string, text: string | Buffer, more: object = {}): Entry => {
  const body = new Uint8Array(Buffer.from(text))
  return { header: { name, size: body.length, type: 'file', ...more }, body } as Entry
}
const DIGESTS = file('digests.json', whole.digestsText)
const PLAIN = FILES.map(([name, text]) => file(name, text))
const pack = async (entries: Entry[]): Promise<Buffer> => gzipSync(await packTar(entries))
const refusal = async (packed: Buffer): Promise<string> => {
  const outcome = await readPackage(packed).catch((error: unknown) => error)
  expect(outcome).toMatchObject({ name: 'PackageError' })
  return (outcome as Error).message
}

describe('a package is refused for', () => {
  const named = (name: string): [string, Entry[], string] => [
    `a file named ${name}`,
    [DIGESTS, ...PLAIN, file(name, 'x')],
    `it holds ${JSON.stringify(name)}`,
  ]
  test.each<[string, Entry[], string]>([
    named('../connector.json'),
    named('/etc/passwd'),
    named('a/../../x'),
    named('connector.ts'),
    named('Connector.json'),
    named('node_modules/x/index.js'),
    ['a duplicate file', [DIGESTS, ...PLAIN, file('code.js', 'x')], 'twice'],
    [
      'a symbolic link',
      [
        DIGESTS,
        {
          header: { name: 'README.md', size: 0, type: 'symlink', linkname: '/etc/passwd' },
        } as Entry,
      ],
      'no plain file',
    ],
    [
      'a device',
      [DIGESTS, { header: { name: 'README.md', size: 0, type: 'character-device' } } as Entry],
      'no plain file',
    ],
    [
      'a folder',
      [DIGESTS, { header: { name: 'code.js/', size: 0, type: 'directory' } } as Entry],
      'no plain file',
    ],
    ['no digests.json', PLAIN, 'the first must be digests.json'],
    ['digests.json at the end', [...PLAIN, DIGESTS], 'the first must be digests.json'],
    ['no entries', [], 'empty'],
    ['digests.json alone', [DIGESTS], 'connector.json is missing'],
    ['a missing file', [DIGESTS, ...PLAIN.slice(0, 2)], 'README.md is missing, though'],
    [
      'a changed file',
      [DIGESTS, PLAIN[0] as Entry, file('code.js', 'evil()'), PLAIN[2] as Entry],
      'code.js is not what digests.json says',
    ],
    ['an unlisted file', [DIGESTS, ...PLAIN, file('logo.svg', '<svg/>')], 'does not name logo.svg'],
    ['a digests.json that is not JSON', [file('digests.json', '{'), ...PLAIN], 'is not JSON'],
    [
      'a digests.json of another shape',
      [file('digests.json', '{"format":1,"id":7}'), ...PLAIN],
      'digests.json: id is wrong',
    ],
    [
      'a newer format',
      [file('digests.json', '{"format":2}'), ...PLAIN],
      'a newer version of Keyway',
    ],
    [
      'a large README',
      [DIGESTS, file('README.md', Buffer.alloc(1024 * 1024 + 1))],
      'at most 1048576 are allowed',
    ],
    [
      'many entries',
      Array.from({ length: 40 }, (_, index) =>
        index === 0 ? DIGESTS : file(index < 4 ? (FILES[index - 1]?.[0] ?? '') : `f${index}`, 'x'),
      ),
      'it holds "f4"',
    ],
  ])('%s', async (_what, entries, words) => {
    expect(await refusal(await pack(entries))).toContain(words)
  })

  test.each<[string, (packed: Buffer) => Buffer]>([
    ['invalid gzip', () => Buffer.from('PK\u0003\u0004')],
    ['no bytes', () => Buffer.alloc(0)],
    ['gzip data that is not a tar archive', () => gzipSync('hello')],
    ['a truncated package', (packed) => packed.subarray(0, packed.length - 20)],
    ['trailing bytes', (packed) => Buffer.concat([packed, Buffer.from('x')])],
  ])('%s', async (_what, change) => {
    await refusal(change(await writePackage(whole)))
  })

  test('a decompression bomb, before it takes much memory', async () => {
    const before = process.memoryUsage().rss
    const bomb = gzipSync(Buffer.alloc(600 * 1024 * 1024))
    const made = process.memoryUsage().rss
    await refusal(bomb)
    expect(process.memoryUsage().rss - Math.max(before, made)).toBeLessThan(200 * 1024 * 1024)
  })

  test('its size over 16777216 bytes', async () => {
    expect(await refusal(Buffer.alloc(16 * 1024 * 1024 + 1))).toContain('at most 16777216')
  })
})

test('the digest of a package is the SHA-256 of digests.json', () => {
  expect(whole.digest).toBe(sha256(whole.digestsText))
})
