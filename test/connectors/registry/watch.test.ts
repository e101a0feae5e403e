import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { MAX_FOLDER_ENTRIES } from '../../../runtime/connectors/registry/folder.ts'
import {
  foldersIn,
  type Watched,
  watchDirectories,
} from '../../../runtime/connectors/registry/watch.ts'
import { bestMs } from '../../kit/best-ms.ts'
import { eventually } from '../../kit/eventually.ts'
import { filesOf, fill, temporaryFolder, write } from './fixtures/folders.ts'

const open: Watched[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.stop()))
})

/** Watches, and records the callbacks as names: `+a` for `onFolder`, `-a` for `onGone`. */
function start(directories: readonly string[], onFolder?: (name: string) => Promise<void>) {
  const messages: string[] = []
  const errors: Error[] = []
  const watched = watchDirectories(directories, {
    async onFolder(directory) {
      messages.push(`+${path.basename(directory)}`)
      await onFolder?.(path.basename(directory))
    },
    onGone: (directory) => messages.push(`-${path.basename(directory)}`),
    onError: (error) => errors.push(error),
  })
  open.push(watched)
  return { told: messages, errors, watched, first: watched.first }
}

const becomes = (told: string[], expected: string[]) =>
  eventually(() => expect(told).toEqual(expected))

async function started(folders: string[] = []) {
  const home = temporaryFolder()
  for (const name of folders) await write(path.join(home, name), filesOf())
  const all = start([home])
  await all.first
  all.told.length = 0
  return { home, ...all }
}

describe('at the start', () => {
  test('every folder is reported once', async () => {
    const home = temporaryFolder()
    for (const name of ['a', 'b']) await write(path.join(home, name), filesOf())
    await write(home, { 'README.md': 'no folder', '.git/config': '', 'node_modules/x/a.js': '' })
    const { told, first } = start([home])
    await first
    expect(told.sort()).toEqual(['+a', '+b'])
  })

  test('folders of several directories are reported; a missing directory has none', async () => {
    const [one, other] = [temporaryFolder(), temporaryFolder()]
    await write(path.join(one, 'a'), filesOf())
    await write(path.join(other, 'b'), filesOf())
    const { told, first, errors } = start([one, other, path.join(one, 'nowhere')])
    await first
    expect({ told: told.sort(), errors }).toEqual({ told: ['+a', '+b'], errors: [] })
  })

  test('a folder whose callback fails does not stop others', async () => {
    const home = temporaryFolder()
    for (const name of ['a', 'b', 'c']) await write(path.join(home, name), filesOf())
    const { told, first, errors } = start([home], async (name) => {
      if (name === 'b') throw new Error('no')
    })
    await first
    expect({ told: told.sort(), errors: errors.map(({ message }) => message) }).toEqual({
      told: ['+a', '+b', '+c'],
      errors: ['no'],
    })
  })

  test('a file in place of a directory is an error, and does not stop others', async () => {
    const home = temporaryFolder()
    await write(home, { file: '' })
    await write(path.join(home, 'good/a'), filesOf())
    const { told, first, errors } = start([path.join(home, 'file'), path.join(home, 'good')])
    await first
    expect(told).toEqual(['+a'])
    expect(errors).toHaveLength(1)
  })
})

describe('a folder', () => {
  test('that is copied slowly is reported once, when it no longer changes', async () => {
    const { home, told } = await started()
    const folder = path.join(home, 'slow')
    await mkdir(folder)
    for (const name of ['connector.ts', 'a.ts', 'b.ts', 'c.ts', 'd.ts', 'connector.json']) {
      await writeFile(path.join(folder, name), 'x')
      await wait(80)
      await appendFile(path.join(folder, name), 'y')
    }
    await becomes(told, ['+slow'])
    await wait(250)
    expect(told).toEqual(['+slow'])
  })

  test('that was being copied when the watch started is reported again later', async () => {
    const home = temporaryFolder()
    const folder = path.join(home, 'half')
    await write(folder, { 'connector.ts': '' })
    const { told, first } = start([home])
    await writeFile(path.join(folder, 'connector.json'), '{}')
    await first
    await writeFile(path.join(folder, 'late.ts'), '')
    await eventually(() => expect(told.length).toBeGreaterThan(1))
  })

  test.each([
    ['changed', (file: string) => appendFile(file, ' ')],
    [
      'replaced',
      (file: string) => writeFile(`${file}.new`, 'x').then(() => rename(`${file}.new`, file)),
    ],
    ['removed', (file: string) => rm(file)],
  ])('whose file is %s is reported again', async (_name, change) => {
    const { home, told } = await started(['a', 'b'])
    await change(path.join(home, 'a', 'connector.ts'))
    await becomes(told, ['+a'])
  })

  test('whose nested file is changed is reported again', async () => {
    const { home, told } = await started(['a'])
    await write(path.join(home, 'a/lib/deep'), { 'x.ts': '1' })
    await becomes(told, ['+a'])
    await writeFile(path.join(home, 'a/lib/deep/x.ts'), '2')
    await becomes(told, ['+a', '+a'])
  })

  test('that is removed is reported as gone', async () => {
    const { home, told } = await started(['a', 'b'])
    await rm(path.join(home, 'a'), { recursive: true })
    await becomes(told, ['-a'])
  })

  test('that is renamed is reported as gone, and under its new name', async () => {
    const { home, told } = await started(['a'])
    await rename(path.join(home, 'a'), path.join(home, 'b'))
    await eventually(() => expect(told.toSorted()).toEqual(['+b', '-a']))
  })

  test('that is moved in is reported', async () => {
    const { home, told } = await started()
    const outside = path.join(temporaryFolder(), 'moved')
    await write(outside, filesOf())
    await rename(outside, path.join(home, 'moved'))
    await becomes(told, ['+moved'])
  })

  test('that is a new link is reported, and its target is watched', async () => {
    const { home, told } = await started()
    const outside = path.join(temporaryFolder(), 'elsewhere')
    await write(outside, filesOf())
    await symlink(outside, path.join(home, 'linked'))
    await becomes(told, ['+linked'])
    await appendFile(path.join(outside, 'connector.ts'), ' ')
    await becomes(told, ['+linked', '+linked'])
  })

  test('that is a link with a new target is watched there, and no longer at the old target', async () => {
    const { home, told } = await started()
    const [one, other] = [temporaryFolder(), temporaryFolder()]
    for (const folder of [one, other]) await write(folder, filesOf())
    await symlink(one, path.join(home, 'linked'))
    await becomes(told, ['+linked'])
    await symlink(other, path.join(home, '.next'))
    await rename(path.join(home, '.next'), path.join(home, 'linked'))
    await becomes(told, ['+linked', '+linked'])
    await appendFile(path.join(one, 'connector.ts'), ' ')
    await wait(400)
    await appendFile(path.join(other, 'connector.ts'), ' ')
    await becomes(told, ['+linked', '+linked', '+linked'])
  })

  test('that is a link is reported again when its target is replaced', async () => {
    const { home, told } = await started()
    const outside = path.join(temporaryFolder(), 'elsewhere')
    await write(outside, filesOf())
    await symlink(outside, path.join(home, 'linked'))
    await becomes(told, ['+linked'])
    await rm(outside, { recursive: true })
    await becomes(told, ['+linked', '-linked'])
    await write(outside, filesOf())
    await becomes(told, ['+linked', '-linked', '+linked'])
  })

  test('in a plugin directory that is itself a link is reported by the given path', async () => {
    const home = temporaryFolder()
    await mkdir(path.join(home, 'real'))
    await symlink('real', path.join(home, 'link'))
    const directories: string[] = []
    const watched = watchDirectories([path.join(home, 'link')], {
      onFolder: async (directory) => void directories.push(directory),
      onGone: () => {},
      onError: () => {},
    })
    open.push(watched)
    await watched.first
    await write(path.join(home, 'real/a'), filesOf())
    await becomes(directories, [path.join(home, 'link/a')])
  })

  test('whose callback fails is an error, and does not stop others', async () => {
    const home = temporaryFolder()
    const { told, errors, first } = start([home], async (name) => {
      if (name === 'bad') throw new Error('no')
    })
    await first
    await write(path.join(home, 'bad'), filesOf())
    await write(path.join(home, 'good'), filesOf())
    await eventually(() => expect(told.toSorted()).toEqual(['+bad', '+good']))
    expect(errors.map(({ message }) => message)).toEqual(['no'])
  })
})

test('a link within a folder is not followed', async () => {
  const { home, told } = await started(['a'])
  const outside = temporaryFolder()
  await write(outside, { 'x.ts': '' })
  await symlink(outside, path.join(home, 'a/out'))
  await becomes(told, ['+a'])
  await appendFile(path.join(outside, 'x.ts'), ' ')
  await wait(500)
  expect(told).toEqual(['+a'])
})

test('a folder with too many files does not stop the watch of others', async () => {
  const { home, told } = await started(['a', 'b'])
  fill(path.join(home, 'a'), 11_000, '.ts')
  await eventually(() => expect(told).toContain('+a'))
  await appendFile(path.join(home, 'b/connector.ts'), ' ')
  await eventually(() => expect(told).toContain('+b'))
})

test('a folder with too many files is watched only up to the limit', async () => {
  const home = temporaryFolder()
  for (const name of ['a', 'b']) await write(path.join(home, name), filesOf())
  fill(path.join(home, 'a'), MAX_FOLDER_ENTRIES, '.ts')
  const { told, first } = start([home])
  await first
  told.length = 0
  await writeFile(path.join(home, 'a/one-more.ts'), '')
  await appendFile(path.join(home, 'b/connector.ts'), ' ')
  await becomes(told, ['+b'])
  await wait(400)
  expect(told).toEqual(['+b'])
})

test('a link to the root directory does not delay the start', async () => {
  const home = temporaryFolder()
  await write(path.join(home, 'good'), filesOf())
  await symlink('/', path.join(home, 'good/x'))
  await symlink('/', path.join(home, 'evil'))
  const tookMs = await bestMs(15_000, async () => {
    const { told, first } = start([home])
    await first
    expect([...new Set(told)].toSorted()).toEqual(['+evil', '+good'])
  })
  expect(tookMs).toBeLessThan(15_000)
})

test('files next to the folders, and hidden folders, are ignored', async () => {
  const { home, told } = await started(['a'])
  await write(home, { 'README.md': '', '.hidden/x.ts': '', 'a/.swp.ts': '' })
  await write(path.join(home, 'z'), filesOf())
  await eventually(() => expect(told).toContain('+z'))
  expect(told.filter((one) => one.startsWith('+'))).toEqual(['+z'])
})

test('nothing is reported after the stop', async () => {
  const { home, told, watched } = await started(['a'])
  await appendFile(path.join(home, 'a', 'connector.ts'), ' ')
  await wait(60)
  await watched.stop()
  await appendFile(path.join(home, 'a', 'connector.ts'), ' ')
  await wait(280)
  expect(told).toEqual([])
})

test('a directory that appears later is watched', async () => {
  const home = path.join(temporaryFolder(), 'later')
  const { told, first } = start([home])
  await first
  await write(path.join(home, 'a'), filesOf())
  await becomes(told, ['+a'])
})

test('a missing directory has no folders', async () => {
  expect(await foldersIn('/nowhere/at/all')).toEqual([])
})
