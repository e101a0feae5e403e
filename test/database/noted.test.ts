import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lastBackup, noteBackup } from '../../runtime/database/backup/backup-record.ts'

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'keyway-noted-'))
  onTestFinished(() => rm(made, { recursive: true }))
  return made
}

test('only the most recently noted backup is returned', async () => {
  const dataDir = await folder()
  expect(await lastBackup(dataDir)).toBe(null)
  const note = { complete_until: '2026-01-02T03:04:05.000Z', bytes: 7 }
  await noteBackup(dataDir, { complete_until: '2026-01-01T03:04:05.000Z', bytes: 6 })
  await noteBackup(dataDir, note)
  expect(await lastBackup(dataDir)).toEqual(note)
  expect(await readdir(dataDir)).toEqual(['last-backup'])
})

test.each(['', '{', '[]', '{"complete_until":"yesterday","bytes":1}', ' '.repeat(5000)])(
  'an invalid note (%#) counts as no backup',
  async (text) => {
    const dataDir = await folder()
    await writeFile(path.join(dataDir, 'last-backup'), text)
    expect(await lastBackup(dataDir)).toBe(null)
  },
)
