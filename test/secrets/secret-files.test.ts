import { mkdtempSync, rmSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'

const made: string[] = []
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true })
})
const data = () => {
  made.push(mkdtempSync(path.join(tmpdir(), 'keyway-keys-')))
  return path.join(made.at(-1) as string, 'data')
}

describe('a secret', () => {
  test('is created in a file that only the owner can read', async () => {
    const directory = data()
    const { value, file } = await keptSecret(directory, 'secret')
    expect(value.length).toBeGreaterThanOrEqual(32)
    expect(file).toBe(path.join(directory, 'secret'))
    expect(await readFile(file, 'utf8')).toBe(`${value}\n`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(directory)).mode & 0o777).toBe(0o700)
  })

  test('stays the same', async () => {
    const directory = data()
    const first = await keptSecret(directory, 'secret', 'lsk_')
    expect(first.value).toMatch(/^lsk_/)
    expect(await keptSecret(directory, 'secret', 'lsk_')).toEqual(first)
  })

  test('differs by name and by directory', async () => {
    const directory = data()
    const all = await Promise.all([
      keptSecret(directory, 'a'),
      keptSecret(directory, 'b'),
      keptSecret(data(), 'a'),
    ])
    expect(new Set(all.map(({ value }) => value)).size).toBe(3)
  })

  test('is the same for concurrent starts, which leave no other files', async () => {
    const directory = data()
    const all = await Promise.all(Array.from({ length: 40 }, () => keptSecret(directory, 'secret')))
    expect(new Set(all.map(({ value }) => value)).size).toBe(1)
    expect(await readdir(directory)).toEqual(['secret'])
  })

  test('that the operator wrote is read', async () => {
    const directory = data()
    await mkdir(directory)
    await writeFile(path.join(directory, 'secret'), `  ${'s'.repeat(40)}\n\n`)
    expect((await keptSecret(directory, 'secret')).value).toBe('s'.repeat(40))
  })

  test.each(['', '\n', 'short'])(
    'that is invalid is refused, and its file is named: %j',
    async (text) => {
      const directory = data()
      await mkdir(directory)
      await writeFile(path.join(directory, 'secret'), text)
      await expect(keptSecret(directory, 'secret')).rejects.toThrow(
        /data\/secret does not hold a secret; remove it and start again/,
      )
    },
  )

  test('keeps the mode that the operator gave its directory', async () => {
    const directory = data()
    await mkdir(directory)
    await chmod(directory, 0o750)
    await keptSecret(directory, 'secret')
    expect((await stat(directory)).mode & 0o777).toBe(0o750)
  })
})
