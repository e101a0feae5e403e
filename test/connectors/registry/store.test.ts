import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { Inspection } from '../../../runtime/connectors/registry/inspect.ts'
import { openStore } from '../../../runtime/connectors/registry/store.ts'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import { manifestOf, temporaryFolder, write } from './fixtures/folders.ts'

const TOOLCHAIN = 'c'.repeat(64)
const DIGEST = 'd'.repeat(64)
const manifest = v.parse(Manifest, manifestOf())
const good = { ok: true, manifest, code: 'the code', map: null, logo: null } as const
const bad: Inspection = { ok: false, findings: ['no'], id: 'acme', version: null }

const named = (count: number, one: object) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, one]))

const open = (directory = temporaryFolder(), toolchain = TOOLCHAIN) => ({
  directory,
  store: openStore(directory, toolchain),
  verdictFile: path.join(
    directory,
    'connectors',
    `${DIGEST}-${toolchain.slice(0, 12)}`,
    'verdict.json',
  ),
})

describe('a verdict', () => {
  test('is found as it was stored, also by another process', async () => {
    const { store, directory } = open()
    expect(await store.find(DIGEST)).toBeNull()
    await store.keep(DIGEST, good)
    expect(await open(directory).store.find(DIGEST)).toEqual({ ok: true, manifest })
    expect(await open(directory).store.code(DIGEST)).toBe('the code')
  })

  test('is stored with its source map and its logo, or without', async () => {
    const { store } = open()
    await store.keep(DIGEST, { ...good, map: 'the map', logo: 'the logo' })
    expect(await store.find(DIGEST)).toEqual({ ok: true, manifest })
    expect([await store.map(DIGEST), await store.logo(DIGEST)]).toEqual(['the map', 'the logo'])
    await store.keep(DIGEST, good)
    expect([await store.map(DIGEST), await store.logo(DIGEST)]).toEqual([null, null])
    expect(await store.map('f'.repeat(64))).toBeNull()
  })

  test('that refuses is stored without code', async () => {
    const { store } = open()
    await store.keep(DIGEST, bad)
    expect(await store.find(DIGEST)).toEqual(bad)
    await expect(store.code(DIGEST)).rejects.toThrow('ENOENT')
  })

  test('of another runtime is ignored', async () => {
    const { store, directory } = open()
    await store.keep(DIGEST, good)
    expect(await open(directory, 'e'.repeat(64)).store.find(DIGEST)).toBeNull()
  })

  test.each([
    ['has too many settings', named(101, { type: 'boolean' })],
    ['has patterns that are too large', named(6, { type: 'string', pattern: 'a{900}' })],
    ['is too large', { x: { type: 'boolean', help: 'x'.repeat(2_000_000) } }],
  ])('whose manifest %s is ignored', async (_name, settings) => {
    const { store, verdictFile } = open()
    await store.keep(DIGEST, good)
    await writeFile(verdictFile, JSON.stringify({ ok: true, manifest: { ...manifest, settings } }))
    expect([await store.find(DIGEST), await store.manifest(DIGEST)]).toEqual([null, null])
  })

  test('that was changed after it was stored is ignored', async () => {
    const { store, verdictFile } = open()
    await store.keep(DIGEST, good)
    const text = await readFile(verdictFile, 'utf8')
    await writeFile(verdictFile, text.replace('"capabilities"', '"capability"'))
    expect(await store.find(DIGEST)).toBeNull()
  })

  test('of another runtime is validated again, even if it is unchanged', async () => {
    const { store, directory } = open()
    const { capabilities: _left, ...older } = manifest
    await store.keep(DIGEST, { ...good, manifest: older as Manifest })
    expect(await open(directory, 'e'.repeat(64)).store.manifest(DIGEST)).toBeNull()
  })

  test('can be replaced', async () => {
    const { store } = open()
    await store.keep(DIGEST, bad)
    await store.keep(DIGEST, good)
    expect(await store.find(DIGEST)).toMatchObject({ ok: true })
  })

  test.each([
    '',
    '{',
    '{"ok":tr',
    '{}',
    'null',
    '{"ok":true}',
    '{"ok":true,"manifest":{}}',
    '{"ok":false}',
  ])('that is incomplete or of an older form is ignored: %j', async (text) => {
    const { store, verdictFile } = open()
    await store.keep(DIGEST, good)
    await writeFile(verdictFile, text)
    expect(await store.find(DIGEST)).toBeNull()
  })

  test('without its code is ignored', async () => {
    const { store, verdictFile } = open()
    await store.keep(DIGEST, good)
    await rm(path.join(path.dirname(verdictFile), 'code.js'))
    expect(await store.find(DIGEST)).toBeNull()
  })

  test('left incomplete by a killed process is replaced', async () => {
    const { store, directory } = open()
    const home = path.join(directory, 'connectors', `${DIGEST}-${TOOLCHAIN.slice(0, 12)}`)
    await write(home, { 'code.js': 'half' })
    expect(await store.find(DIGEST)).toBeNull()
    await store.keep(DIGEST, good)
    expect(await store.code(DIGEST)).toBe('the code')
  })

  test('can be stored concurrently while others read it', async () => {
    const { store, directory } = open()
    const others = Array.from({ length: 10 }, () => open(directory).store)
    const looks = Array.from({ length: 50 }, () => store.find(DIGEST))
    await Promise.all([...others.map((one) => one.keep(DIGEST, good)), ...looks])
    expect(await store.find(DIGEST)).toEqual({ ok: true, manifest })
    expect(await readdir(path.join(directory, 'connectors'))).toHaveLength(1)
  })
})

describe('the last good digest', () => {
  test('is stored by folder', async () => {
    const { store, directory } = open()
    expect(await store.lastGood('/a')).toBeNull()
    await store.setLastGood('/a', '1')
    await store.setLastGood('/b', '2')
    await store.setLastGood('/a', null)
    const again = open(directory).store
    expect([await again.lastGood('/a'), await again.lastGood('/b')]).toEqual([null, '2'])
  })

  test('survives concurrent changes', async () => {
    const { store } = open()
    const folders = Array.from({ length: 40 }, (_, one) => `/folder-${one}`)
    await Promise.all(folders.map((folder) => store.setLastGood(folder, folder)))
    expect(await Promise.all(folders.map((folder) => store.lastGood(folder)))).toEqual(folders)
  })

  test.each(['', '{', '[]', '{"/a":5}', 'null'])('survives a damaged file: %j', async (text) => {
    const { store, directory } = open()
    await writeFile(path.join(directory, 'last-good.json'), text)
    expect(await store.lastGood('/a')).toBeNull()
    await store.setLastGood('/a', '1')
    expect(await store.lastGood('/a')).toBe('1')
  })

  test('that cannot be written causes an error, and the next one is written', async () => {
    const home = temporaryFolder()
    const directory = path.join(home, 'data')
    await writeFile(directory, 'a file where the folder should be')
    const { store } = open(directory)
    await expect(store.setLastGood('/a', '1')).rejects.toThrow()
    await rm(directory)
    await store.setLastGood('/a', '2')
    expect(JSON.parse(await readFile(path.join(directory, 'last-good.json'), 'utf8'))).toEqual({
      '/a': '2',
    })
  })
})
