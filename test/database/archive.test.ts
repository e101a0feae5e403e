/** The file of a backup gets its name only when it is complete, also where there are no hard links. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { writeArchive } from '../../runtime/database/backup/archive.ts'
import { newFolder } from '../kit/folder.ts'

const home = newFolder('archive')
afterAll(() => rm(home, { recursive: true, force: true }))

/** Fails as a file system without hard links does, such as exFAT. */
const makeLink = async (): Promise<never> => {
  throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })
}

const write = (file: string, meanwhile = () => {}) =>
  writeArchive(
    { file, force: false, signal: new AbortController().signal, makeLink },
    async (to) => {
      await to.addBytes('manifest.json', Buffer.from('{}'))
      meanwhile()
    },
  )

test('a backup is written to a file system without hard links', async () => {
  const file = path.join(home, 'usb.tar.gz')
  await write(file)
  expect(gunzipSync(readFileSync(file)).includes('manifest.json')).toBe(true)
  expect(readdirSync(home)).toEqual(['usb.tar.gz'])
  await rm(file)
})

test('a file that appears meanwhile on a file system without hard links is not replaced', async () => {
  const file = path.join(home, 'other.tar.gz')
  await expect(write(file, () => writeFileSync(file, 'precious'))).rejects.toThrow(
    /is there already.*--force/,
  )
  expect(readFileSync(file, 'utf8')).toBe('precious')
  expect(readdirSync(home)).toEqual(['other.tar.gz'])
})
