/** Publication into the folder of a registry: by one process at a time, and all or nothing. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { publishAlone, put } from '../../runtime/cli/registry-folder.ts'
import { newFolder } from '../kit/folder.ts'

const home = newFolder('registry-folder')
const at = (...parts: string[]) => path.join(home, ...parts)

describe('the folder', () => {
  const stale = '99999999'

  test('is left unchanged if one of its files cannot be written', async () => {
    await mkdir(at('full', 'packages'), { recursive: true })
    await writeFile(at('full', 'index.json'), '{}')
    const before = await readdir(at('full'), { recursive: true })
    const files = new Map([
      ['packages/new.tgz', Buffer.from('new')],
      [`${'x'.repeat(300)}`, Buffer.from('never')],
    ])
    await expect(put(at('full'), files)).rejects.toThrow('ENAMETOOLONG')
    expect((await readdir(at('full'), { recursive: true })).sort()).toEqual(before.sort())
  })

  test('keeps no partial file of a killed publication, which would be served', async () => {
    await mkdir(at('killed', 'packages', 'mine.part'), { recursive: true })
    await mkdir(at('killed', 'logos'))
    for (const name of ['packages/new.tgz.part', 'packages/old.tgz', 'logos/new.svg.part'])
      await writeFile(at('killed', name), 'x')
    await put(at('killed'), new Map([['packages/other.tgz', Buffer.from('other')]]))
    expect((await readdir(at('killed', 'packages'))).sort()).toEqual([
      ...['mine.part', 'old.tgz', 'other.tgz'],
    ])
    expect(await readdir(at('killed', 'logos'))).toEqual([])
  })

  test('is taken over from a killed process by only one of several publishers', async () => {
    let most = 0
    for (let n = 0; n < 60; n += 1) {
      await mkdir(at('raced'), { recursive: true })
      await writeFile(at('raced', '.publishing'), stale)
      let now = 0
      const act = async () => {
        now += 1
        most = Math.max(most, now)
        await new Promise((resolve) => setTimeout(resolve, 10))
        now -= 1
      }
      const ended = await Promise.allSettled(
        Array.from({ length: 8 }, async () => {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
          return publishAlone(at('raced'), act)
        }),
      )
      expect(ended.some(({ status }) => status === 'fulfilled')).toBe(true)
      expect(await readdir(at('raced'))).toEqual([])
    }
    expect(most).toBe(1)
  })

  test('is taken over from an earlier process with the same process id, as in a container', async () => {
    await mkdir(at('again'), { recursive: true })
    await writeFile(at('again', '.publishing'), String(process.pid))
    let ran = false
    await publishAlone(at('again'), async () => {
      ran = true
      // While this process publishes, its id in the lock is current.
      await expect(publishAlone(at('again'), async () => undefined)).rejects.toThrow(
        /someone else is publishing there/,
      )
    })
    expect(ran).toBe(true)
  })
})
