import { execFileSync } from 'node:child_process'
import { rename, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  digestOf,
  FolderError,
  MAX_FOLDER_BYTES,
  MAX_FOLDER_FILES,
  readFolder,
} from '../../../runtime/connectors/registry/folder.ts'
import { fill, temporaryFolder, write } from './fixtures/folders.ts'

const FILES = { 'connector.json': '{}', 'connector.ts': 'export {}', 'lib/a.ts': '1' }

const make = async (files: Record<string, string | Buffer> = FILES) => {
  const directory = path.join(temporaryFolder(), 'acme')
  await write(directory, files)
  return directory
}

const namesIn = async (directory: string) => [...(await readFolder(directory)).files.keys()]

describe('the digest', () => {
  test('does not depend on the path of the folder', async () => {
    const [one, other] = await Promise.all([make(), make()])
    expect((await readFolder(one)).digest).toBe((await readFolder(other)).digest)
  })

  test('is the same after a move, and through a link', async () => {
    const directory = await make()
    const before = (await readFolder(directory)).digest
    await rename(directory, `${directory}-moved`)
    await symlink(`${directory}-moved`, directory)
    expect((await readFolder(directory)).digest).toBe(before)
  })

  test.each([
    ['other content', { ...FILES, 'lib/a.ts': '2' }],
    ['another name', { 'connector.json': '{}', 'connector.ts': 'export {}', 'lib/b.ts': '1' }],
    ['an additional file', { ...FILES, 'b.ts': '' }],
    [
      'the same bytes divided differently between files',
      { ...FILES, 'connector.ts': 'export {', 'lib/a.ts': '}1' },
    ],
  ])('changes with %s', async (_name, files) => {
    expect((await readFolder(await make(files))).digest).not.toBe(
      (await readFolder(await make())).digest,
    )
  })

  test('does not depend on the order of files', () => {
    const files = Object.entries(FILES).map(([name, text]) => [name, Buffer.from(text)] as const)
    expect(digestOf(new Map(files))).toBe(digestOf(new Map(files.toReversed())))
  })
})

test('reads the files of a connector and ignores others', async () => {
  const directory = await make({
    ...FILES,
    'README.md': '',
    'logo.svg': '',
    'data.json': '{}',
    'x.mjs': '',
    'notes.txt': '',
    'connector.ts.swp': '',
    '.hidden.ts': '',
    '.git/config.json': '{}',
    'native.node': '',
  })
  expect((await namesIn(directory)).sort()).toEqual(
    [
      'README.md',
      'connector.json',
      'connector.ts',
      'data.json',
      'lib/a.ts',
      'logo.svg',
      'x.mjs',
    ].sort(),
  )
})

describe('links', () => {
  test('that lead out of the folder are ignored', async () => {
    const directory = await make()
    const outside = path.join(path.dirname(directory), 'outside.ts')
    await writeFile(outside, 'secret')
    await symlink(outside, path.join(directory, 'file.ts'))
    await symlink('../outside.ts', path.join(directory, 'relative.ts'))
    await symlink('/etc', path.join(directory, 'etc'))
    await symlink('/etc/passwd', path.join(directory, 'passwd.json'))
    await symlink('nowhere.ts', path.join(directory, 'broken.ts'))
    await symlink('loop.ts', path.join(directory, 'loop.ts'))
    expect(await namesIn(directory)).toEqual(Object.keys(FILES))
  })

  test('to a folder whose name begins alike are ignored', async () => {
    const directory = await make()
    await write(`${directory}-other`, { 'x.ts': 'secret' })
    await symlink(`${directory}-other/x.ts`, path.join(directory, 'x.ts'))
    expect(await namesIn(directory)).toEqual(Object.keys(FILES))
  })

  test('to a file within the folder are followed', async () => {
    const directory = await make()
    await symlink('lib/a.ts', path.join(directory, 'same.ts'))
    expect(`${(await readFolder(directory)).files.get('same.ts')}`).toBe('1')
  })

  test('to a folder within are ignored, under any name', async () => {
    const directory = await make()
    await symlink('lib', path.join(directory, 'lib.ts'))
    await symlink('.', path.join(directory, 'self'))
    expect(await namesIn(directory)).toEqual(Object.keys(FILES))
  })

  test('count with the size of their target', async () => {
    const directory = await make({ ...FILES, 'big.json': Buffer.alloc(MAX_FOLDER_BYTES / 4) })
    for (const name of ['a', 'b', 'c', 'd']) {
      await symlink('big.json', path.join(directory, `${name}.json`))
    }
    await expect(readFolder(directory)).rejects.toThrow(FolderError)
  })
})

test('a pipe is ignored, and never waited for', async () => {
  const directory = await make()
  execFileSync('mkfifo', [path.join(directory, 'pipe.ts')])
  await symlink('pipe.ts', path.join(directory, 'pipe-too.ts'))
  expect(await namesIn(directory)).toEqual(Object.keys(FILES))
})

describe('refuses', () => {
  test('a folder without connector.json', async () => {
    await expect(readFolder(await make({ 'connector.ts': '' }))).rejects.toThrow(
      new FolderError('there is no connector.json in the folder'),
    )
  })

  test('a folder that is too large', async () => {
    const big = Buffer.alloc(MAX_FOLDER_BYTES)
    await expect(readFolder(await make({ ...FILES, 'a.json': big }))).rejects.toThrow(
      /more than 33554432 bytes; leave out/,
    )
  })

  test('a folder of too many files', async () => {
    const directory = await make()
    fill(path.join(directory, 'many'), MAX_FOLDER_FILES, '.ts')
    await expect(readFolder(directory)).rejects.toThrow(/more than 5000 files/)
  })

  test('a folder of too many entries, including those that are not read', async () => {
    const directory = await make()
    fill(directory, 10_001, '.bin')
    await expect(readFolder(directory)).rejects.toThrow(/too many files: .* more than 10000/)
  })
})
