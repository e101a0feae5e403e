/** In a checkout, the launcher bundles the sources into one program, and rebuilds it after a change. */
import { execFile } from 'node:child_process'
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sourcesDigest } from '../../runtime/connectors/registry/toolchain.ts'
import { basics } from '../kit/program.ts'

const run = promisify(execFile)
const ROOT = path.join(import.meta.dirname, '..', '..')

let checkout: string

beforeAll(async () => {
  checkout = await mkdtemp(path.join(tmpdir(), 'keyway-checkout-'))
  for (const name of ['runtime', 'scripts', 'package.json', 'tsconfig.json'])
    await cp(path.join(ROOT, name), path.join(checkout, name), { recursive: true })
  // The packages of the real checkout, but a separate cache.
  const packages = path.join(checkout, 'node_modules')
  await mkdir(packages)
  for (const name of await readdir(path.join(ROOT, 'node_modules')))
    if (name !== '.cache')
      await symlink(path.join(ROOT, 'node_modules', name), path.join(packages, name))
})
afterAll(() => rm(checkout, { recursive: true, force: true }))

async function answer(option: string): Promise<string> {
  const launcher = path.join(checkout, 'runtime', 'cli', 'keyway.mjs')
  const { NODE_COMPILE_CACHE: _, ...env } = basics()
  return (await run(process.execPath, [launcher, option], { env })).stdout
}

const help = () => answer('--help')

/** The programs built so far. */
async function programs(): Promise<string[]> {
  const names = await readdir(path.join(checkout, 'node_modules', '.cache', 'keyway'))
  return names.filter((name) => name.startsWith('command-')).sort()
}

async function edit(change: (text: string) => string): Promise<void> {
  const file = path.join(checkout, 'runtime', 'cli', 'program.ts')
  await writeFile(file, change(await readFile(file, 'utf8')))
}

test('commands that start at the same time build one program, and later ones reuse it', async () => {
  for (const output of await Promise.all([help(), help(), help()]))
    expect(output).toContain('A connector runtime')
  const [one, ...others] = await programs()
  expect(others).toEqual([])
  const { version } = JSON.parse(await readFile(path.join(checkout, 'package.json'), 'utf8'))
  expect((await answer('--version')).trim()).toBe(version)
  expect(await programs()).toEqual([one])
})

test('the program knows the digest of its sources, which a start would read file by file', async () => {
  const [one = ''] = await programs()
  const folder = path.join(checkout, 'node_modules', '.cache', 'keyway', one)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')))
  expect(texts.join('')).toContain(`"${sourcesDigest(path.join(checkout, 'runtime'))}"`)
})

test('a changed source is rebuilt and run', async () => {
  await edit((text) => text.replace('A connector runtime', 'Another runtime'))
  expect(await help()).toContain('Another runtime')
  expect(await programs()).toHaveLength(2)
})

test('a source with a syntax error is named in the error', async () => {
  const before = await programs()
  await edit((text) => `${text}\nconst = 1\n`)
  await expect(help()).rejects.toThrow(/program\.ts/)
  expect(await programs()).toEqual(before)
  await edit((text) => text.replace('const = 1\n', ''))
  expect(await help()).toContain('Another runtime')
})

test('only the newest 8 programs are kept', async () => {
  const cache = path.join(checkout, 'node_modules', '.cache', 'keyway')
  for (let n = 0; n < 9; n += 1) {
    await mkdir(path.join(cache, `command-${n}`))
    await utimes(path.join(cache, `command-${n}`), n, n)
  }
  await edit((text) => `${text}// once more\n`)
  await help()
  const kept = await programs()
  expect(kept).toHaveLength(8)
  expect(kept).not.toContain('command-0')
})
