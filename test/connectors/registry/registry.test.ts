import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseClearGrants } from '../../../runtime/connectors/registry/clear-grants.ts'
import { readFolder } from '../../../runtime/connectors/registry/folder.ts'
import type { Inspector } from '../../../runtime/connectors/registry/inspect.ts'
import {
  createRegistry,
  type DropIn,
  type Registry,
  type RegistryListing,
} from '../../../runtime/connectors/registry/registry.ts'
import { openStore, type Store } from '../../../runtime/connectors/registry/store.ts'
import { bench } from './fixtures/bench.ts'
import { CODE, filesOf, temporaryFolder, write } from './fixtures/folders.ts'

const TOOLCHAIN = 'a'.repeat(64)

type Options = {
  dropIn?: DropIn
  builtIn?: string[]
  data?: string
  clear?: string
  store?: Store
  inspector?: Partial<Inspector>
}

function open(options: Options = {}) {
  const { dropIn = 'open', builtIn = [], data = temporaryFolder(), clear = '' } = options
  const { store, inspector } = options
  const changes: RegistryListing[] = []
  const retired: string[] = []
  const registry = createRegistry({
    inspector: { ...bench.inspector, ...inspector },
    store: store ?? openStore(data, TOOLCHAIN),
    builtIn: new Set(builtIn),
    clearGrants: parseClearGrants(clear),
    dropIn,
    onChange: (listing) => changes.push(listing),
    onRetired: ({ id, version }) => retired.push(`${id}@${version}`),
  })
  return { registry, changes, retired, data }
}

const plugins = () => temporaryFolder()

async function drop(registry: Registry, directory: string, changes: object = {}, code?: string) {
  await write(directory, filesOf(changes, code))
  await registry.refresh(directory)
}

/** A short form of the listing. */
const rows = (registry: Registry) =>
  registry.list().map(({ id, version, state, serving, reason }) => ({
    row: `${id}@${version} ${state}${serving ? ', serving' : ''}`,
    reason,
  }))

const short = (registry: Registry) => rows(registry).map(({ row }) => row)

const BROKEN = 'export default {{'

/** Code that no other test uses, so that its check is not cached and can still be running. */
const uncompiled = () => `${CODE}// ${randomUUID()}\n`

test('serves a valid folder under both spellings of its id', async () => {
  const { registry, changes } = open()
  const directory = path.join(plugins(), 'x')
  await drop(registry, directory, { id: 'acme-crm' })
  expect(short(registry)).toEqual(['acme-crm@1.0.0 ready, serving'])
  expect(registry.find('acme_crm')).toBe(registry.find('acme-crm'))
  expect(registry.find('acme-crm')).toMatchObject({ id: 'acme-crm', key: 'acme_crm' })
  expect(registry.ids()).toEqual(['acme-crm'])
  expect(registry.checking).toBe(0)
  expect(changes.at(-1)).toMatchObject({ serving: true, source: 'drop-in', folder: directory })
})

test('loads the code of a served connector', async () => {
  const { registry } = open()
  await drop(registry, path.join(plugins(), 'x'))
  const loaded = await registry.find('acme')?.load()
  expect(loaded).toMatchObject({ id: 'acme', memoryMb: 64, responseFields: {} })
  expect(loaded?.code).toContain('unique_tenant_id')
})

test('loads the code after a temporary disk error', async () => {
  const data = temporaryFolder()
  const kept = openStore(data, TOOLCHAIN)
  let bad = true
  const store: Store = {
    ...kept,
    code: (digest) => (bad ? Promise.reject(new Error('EIO')) : kept.code(digest)),
  }
  const { registry } = open({ store })
  await drop(registry, path.join(plugins(), 'x'))
  await expect(registry.find('acme')?.load()).rejects.toThrow('EIO')
  bad = false
  expect(await registry.find('acme')?.load()).toMatchObject({ id: 'acme' })
})

describe('a ghost', () => {
  test.each([
    ['code that does not parse', {}, BROKEN, 'acme@1.0.0', 'connector.ts:1:'],
    ['an invalid manifest', { version: 'one' }, undefined, 'acme@one', 'version: found "one"'],
    [
      'a range that excludes this runtime',
      { runtime: '^9.0.0' },
      undefined,
      'acme@1.0.0',
      'this runtime speaks',
    ],
  ])(
    'results from %s, and is listed with its id and the reason',
    async (_name, changes, code, who, why) => {
      const { registry } = open()
      await drop(registry, path.join(plugins(), 'x'), changes, code)
      expect(rows(registry)).toEqual([
        { row: `${who} ghost`, reason: expect.stringContaining(why) },
      ])
      expect(registry.find('acme')).toBeNull()
    },
  )

  test('is a folder without a manifest', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await mkdir(directory)
    await registry.refresh(directory)
    expect(rows(registry)).toEqual([
      { row: 'null@null ghost', reason: 'there is no connector.json in the folder' },
    ])
  })

  test('is a folder that cannot be checked; the next refresh checks it again', async () => {
    const { registry } = open({
      store: {
        ...openStore(temporaryFolder(), TOOLCHAIN),
        keep: () => Promise.reject(new Error('the disk is full')),
      },
    })
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    expect(rows(registry)).toEqual([
      { row: 'null@null ghost', reason: 'could not be checked: the disk is full' },
    ])
    const before = bench.judged
    await registry.refresh(directory)
    expect(bench.judged).toBe(before + 1)
  })

  test('does not stop other folders', async () => {
    const { registry } = open()
    const home = plugins()
    await Promise.all([
      drop(registry, path.join(home, 'a'), {}, BROKEN),
      drop(registry, path.join(home, 'b'), { id: 'beta' }),
      drop(registry, path.join(home, 'c'), { id: 'gamma', version: 'x' }),
    ])
    expect(registry.ids()).toEqual(['beta'])
    expect(short(registry)).toEqual([
      'acme@1.0.0 ghost',
      'beta@1.0.0 ready, serving',
      'gamma@x ghost',
    ])
  })
})

describe('a look', () => {
  /** A `describe` that ends when `end` is called. */
  const held = () => {
    const { promise, resolve } = Promise.withResolvers<string[]>()
    return { end: () => resolve(['validate_credentials']), describe: () => promise }
  }

  test('at a new folder ends when its check has started; the folder is listed as checking', async () => {
    const { end, describe } = held()
    const { registry } = open({ inspector: { describe } })
    const directory = path.join(plugins(), 'x')
    await write(directory, filesOf())
    const { checked } = await registry.look(directory)
    expect([short(registry), registry.checking]).toEqual([['null@null checking'], 1])
    end()
    await checked
    expect([short(registry), registry.checking]).toEqual([['acme@1.0.0 ready, serving'], 0])
  })

  test('at a folder that was checked before ends when it is served', async () => {
    const { registry, data } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    const again = open({ data }).registry
    await again.look(directory)
    expect(short(again)).toEqual(['acme@1.0.0 ready, serving'])
  })

  test('at a folder edited while the runtime was down serves the last good version during the check', async () => {
    const { registry, data } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await write(directory, filesOf({ version: '2.0.0' }))
    const { end, describe } = held()
    const again = open({ data, inspector: { describe } }).registry
    const { checked } = await again.look(directory)
    expect(short(again).sort()).toEqual(['acme@1.0.0 ready, serving', 'null@null checking'])
    end()
    await checked
    expect(short(again)).toEqual(['acme@2.0.0 ready, serving'])
  })
})

describe('an edit', () => {
  test('takes over, and the version that it replaced is retired', async () => {
    const { registry, retired } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    const before = registry.find('acme')
    await drop(registry, directory, { version: '1.1.0' })
    expect(short(registry)).toEqual(['acme@1.1.0 ready, serving'])
    expect(retired).toEqual(['acme@1.0.0'])
    expect(await registry.byDigest('acme', before?.digest ?? '')).toBe(before)
    expect(await registry.byDigest('other', before?.digest ?? '')).toBeNull()
    expect(await registry.byDigest('acme', 'f'.repeat(64))).toBeNull()
  })

  test.each([
    ['broken code', {}, BROKEN],
    ['an invalid manifest', { version: 'x' }, undefined],
  ])(
    'with %s is listed while the previous version goes on serving',
    async (_name, changes, code) => {
      const { registry, retired } = open()
      const directory = path.join(plugins(), 'x')
      await drop(registry, directory)
      await drop(registry, directory, changes, code)
      expect(short(registry)).toEqual([
        'acme@1.0.0 ready, serving',
        expect.stringMatching(/^acme@.* ghost$/),
      ])
      expect(retired).toEqual([])
    },
  )

  test('that removes connector.json leaves the previous version serving', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await rm(path.join(directory, 'connector.json'))
    await registry.refresh(directory)
    expect(short(registry)).toContain('acme@1.0.0 ready, serving')
    expect(registry.find('acme')).not.toBeNull()
  })

  test('that repairs a folder is served', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory, {}, BROKEN)
    await drop(registry, directory)
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving'])
  })

  test('that is undone is served without another check', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    const first = registry.find('acme')
    await drop(registry, directory, { version: '2.0.0' })
    const before = bench.judged
    await drop(registry, directory)
    expect(bench.judged).toBe(before)
    expect(registry.find('acme')).toBe(first)
  })

  test('without changes is ignored', async () => {
    const { registry, changes } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    const before = changes.length
    await registry.refresh(directory)
    expect(changes.length).toBe(before)
  })

  test('that is overtaken by another does not replace it', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    const turns: Promise<void>[] = []
    for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
      await write(directory, filesOf({ version }, uncompiled()))
      turns.push(registry.refresh(directory))
      await readFolder(directory)
    }
    await Promise.all(turns)
    expect(short(registry)).toEqual(['acme@3.0.0 ready, serving'])
  })

  test.each([
    ['another edit', '2.0.0'],
    ['a second look at the same files', '1.0.0'],
  ])('that is overtaken by %s is reported once, at the end', async (_what, version) => {
    const { promise, resolve } = Promise.withResolvers<string[]>()
    const { registry, changes } = open({ inspector: { describe: () => promise } })
    const directory = path.join(plugins(), 'x')
    await write(directory, filesOf())
    const first = await registry.look(directory)
    await write(directory, filesOf({ version }))
    const second = await registry.look(directory)
    resolve(['validate_credentials'])
    await Promise.all([first.checked, second.checked])
    expect(changes.map((one) => `${one.version} ${one.state}`)).toEqual([`${version} ready`])
  })

  test('to another id retires the old one', async () => {
    const { registry, retired } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await drop(registry, directory, { id: 'beta' })
    expect(registry.ids()).toEqual(['beta'])
    expect(retired).toEqual(['acme@1.0.0'])
  })
})

describe('the reach of an edit', () => {
  const wider = {
    version: '1.1.0',
    egress: [{ url: 'https://api.acme.example' }, { url: 'https://evil.example' }],
  }

  test('that grows waits under `closed`, with the wants as the reason', async () => {
    const { registry } = open({ dropIn: 'closed' })
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await drop(registry, directory, wider)
    expect(rows(registry)).toEqual([
      { row: 'acme@1.0.0 ready, serving', reason: null },
      {
        row: 'acme@1.1.0 ghost',
        reason:
          'wants more: GET https://evil.example, HEAD https://evil.example; under KEYWAY_DROP_IN=closed an edit may not reach further than what it replaces: start with KEYWAY_DROP_IN=open to take it',
      },
    ])
  })

  test('that grows waits under `closed` after a restart too', async () => {
    const { registry, data } = open({ dropIn: 'closed' })
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await write(directory, filesOf(wider))
    const again = open({ dropIn: 'closed', data }).registry
    await again.refresh(directory)
    expect(short(again)).toEqual(['acme@1.0.0 ready, serving', 'acme@1.1.0 ghost'])
  })

  test('that grows is served under `open`', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await drop(registry, directory, wider)
    expect(short(registry)).toEqual(['acme@1.1.0 ready, serving'])
  })

  test('that shrinks is served under `closed`', async () => {
    const { registry } = open({ dropIn: 'closed' })
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory, wider)
    await drop(registry, directory)
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving'])
  })

  test('grows with a clear secret', async () => {
    const { registry } = open({ dropIn: 'closed' })
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await drop(registry, directory, {
      version: '1.1.0',
      clear_secrets: [{ field: 'token.token', because: 'The system wants it hashed.' }],
    })
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving', 'acme@1.1.0 ghost'])
  })
})

describe('a connector that asks for a secret in clear', () => {
  const clear_secrets = [{ field: 'token.token', because: 'The system wants it hashed.' }]

  test('waits for the grant, and is not served once the grant is removed', async () => {
    const { registry, data } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory, { clear_secrets })
    expect(short(registry)).toEqual(['acme@1.0.0 ghost'])
    expect(registry.list()[0]?.reason).toContain('KEYWAY_CLEAR_SECRETS="acme=token.token"')
    const granted = open({ data, clear: 'acme=token.token' }).registry
    await granted.refresh(directory)
    expect(short(granted)).toEqual(['acme@1.0.0 ready, serving'])
    const taken = open({ data }).registry
    await taken.refresh(directory)
    expect(short(taken)).toEqual(['acme@1.0.0 ghost'])
    expect(await taken.byDigest('acme', registry.list()[0]?.digest ?? '')).toBeNull()
  })

  test('waits for the grant while the version that was served before goes on', async () => {
    const { registry, retired } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await drop(registry, directory, { version: '1.1.0', clear_secrets })
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving', 'acme@1.1.0 ghost'])
    expect(retired).toEqual([])
  })
})

describe('after a restart', () => {
  test('nothing is checked again', async () => {
    const { registry, data } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    const before = bench.judged
    const again = open({ data }).registry
    await again.refresh(directory)
    expect(bench.judged).toBe(before)
    expect(short(again)).toEqual(['acme@1.0.0 ready, serving'])
  })

  test('with a broken edit the last good version serves', async () => {
    const { registry, data } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await write(directory, filesOf({ version: '2.0.0' }, BROKEN))
    const again = open({ data }).registry
    await again.refresh(directory)
    expect(short(again)).toEqual(['acme@1.0.0 ready, serving', 'acme@2.0.0 ghost'])
    expect(await again.find('acme')?.load()).toMatchObject({ id: 'acme' })
  })

  test('without connector.json the last good version serves', async () => {
    const { registry, data } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await rm(path.join(directory, 'connector.json'))
    const again = open({ data }).registry
    await again.refresh(directory)
    expect(again.find('acme')).toMatchObject({ version: '1.0.0' })
  })

  test('a folder that was removed has no last good version', async () => {
    const { registry, data } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    registry.remove(directory)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await write(directory, filesOf({}, BROKEN))
    const again = open({ data }).registry
    await again.refresh(directory)
    expect(short(again)).toEqual(['acme@1.0.0 ghost'])
  })
})

describe('a removed folder', () => {
  test('is no longer served, and the change is reported', async () => {
    const { registry, retired, changes } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    registry.remove(directory)
    expect([registry.list(), registry.ids(), registry.find('acme')]).toEqual([[], [], null])
    expect(retired).toEqual(['acme@1.0.0'])
    expect(changes.at(-1)).toMatchObject({ serving: false, reason: 'the folder is gone' })
  })

  test('that was unknown is ignored', () => {
    const { registry, changes } = open()
    registry.remove('/nowhere')
    expect(changes).toEqual([])
  })

  test('is served again when it is back', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    registry.remove(directory)
    await registry.refresh(directory)
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving'])
  })

  test('is not served when a running check ends', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await write(directory, filesOf({}, uncompiled()))
    const under = registry.refresh(directory)
    registry.remove(directory)
    await under
    expect([registry.list(), registry.ids()]).toEqual([[], []])
  })

  test('that is missing when it is read is not served', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await registry.refresh(directory)
    expect(registry.ids()).toEqual([])
  })

  test('that was renamed is served under its new name', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await rename(directory, `${directory}-new`)
    registry.remove(directory)
    await registry.refresh(`${directory}-new`)
    expect(registry.list()).toMatchObject([{ folder: `${directory}-new`, serving: true }])
  })

  test('is removed even if the data directory cannot be written', async () => {
    const data = path.join(temporaryFolder(), 'data')
    const { registry } = open({ data })
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await rm(data, { recursive: true })
    await writeFile(data, 'a file where the directory was')
    registry.remove(directory)
    // An unhandled rejection would fail this file.
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(registry.ids()).toEqual([])
  })
})

describe('two folders of one id', () => {
  test('in two spellings: the first by name serves, the other is listed with the reason', async () => {
    const { registry } = open()
    const home = plugins()
    await drop(registry, path.join(home, 'a'), { id: 'acme-x' })
    await drop(registry, path.join(home, 'b'), { id: 'acme_x' })
    expect(rows(registry)).toEqual([
      { row: 'acme-x@1.0.0 ready, serving', reason: null },
      {
        row: 'acme_x@1.0.0 ghost',
        reason: 'the id acme_x is taken by acme-x 1.0.0; "-" and "_" are one spelling',
      },
    ])
    expect(registry.find('acme_x')).toMatchObject({ id: 'acme-x' })
  })

  test('the one that serves goes on when the other precedes it by name', async () => {
    const { registry } = open()
    const home = plugins()
    await drop(registry, path.join(home, 'b'), { id: 'acme-x' })
    await drop(registry, path.join(home, 'a'), { id: 'acme_x', version: '2.0.0' })
    expect(registry.find('acme-x')).toMatchObject({ version: '1.0.0' })
  })

  test('the other takes over when the first is removed', async () => {
    const { registry } = open()
    const home = plugins()
    await drop(registry, path.join(home, 'a'), { id: 'acme-x' })
    await drop(registry, path.join(home, 'b'), { id: 'acme_x', version: '2.0.0' })
    registry.remove(path.join(home, 'a'))
    expect(short(registry)).toEqual(['acme_x@2.0.0 ready, serving'])
  })

  test('copies of the same files are served once', async () => {
    const { registry, retired } = open()
    const home = plugins()
    await drop(registry, path.join(home, 'a'))
    await drop(registry, path.join(home, 'b'))
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving', 'acme@1.0.0 ghost'])
    registry.remove(path.join(home, 'a'))
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving'])
    expect(retired).toEqual([])
  })

  test('copies of the same files are checked once', async () => {
    const { registry } = open()
    const home = plugins()
    const code = uncompiled()
    const before = bench.judged
    await Promise.all(
      ['a', 'b', 'c'].map((name) => drop(registry, path.join(home, name), {}, code)),
    )
    expect(bench.judged).toBe(before + 1)
  })

  test('a built-in one takes precedence over one that already serves', async () => {
    const home = plugins()
    const files = filesOf({ version: '3.0.0' })
    await write(path.join(home, 'z'), files)
    const { digest } = await readFolder(path.join(home, 'z'))
    const { registry } = open({ builtIn: [digest] })
    await drop(registry, path.join(home, 'a'))
    await registry.refresh(path.join(home, 'z'))
    expect(registry.find('acme')).toMatchObject({
      version: '3.0.0',
      builtIn: true,
      lane: 'built-in',
    })
  })
})

test('each version that is not built in has its own lane', async () => {
  const { registry } = open()
  const directory = path.join(plugins(), 'x')
  await drop(registry, directory)
  const first = registry.find('acme')?.lane
  await drop(registry, directory, { version: '2.0.0' })
  expect(registry.find('acme')?.lane).not.toBe(first)
})
