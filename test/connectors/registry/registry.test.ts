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

/** What is said of a folder, in short. */
const rows = (registry: Registry) =>
  registry.list().map(({ id, version, state, serving, reason }) => ({
    row: `${id}@${version} ${state}${serving ? ', serving' : ''}`,
    reason,
  }))

const short = (registry: Registry) => rows(registry).map(({ row }) => row)

const BROKEN = 'export default {{'

/** Code that no other test has: its check takes as long as a first one, so that it can be under way. */
const uncompiled = () => `${CODE}// ${randomUUID()}\n`

test('serves what is good, by either spelling of its id', async () => {
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

test('hands out the code of what it serves', async () => {
  const { registry } = open()
  await drop(registry, path.join(plugins(), 'x'))
  const loaded = await registry.find('acme')?.load()
  expect(loaded).toMatchObject({ id: 'acme', memoryMb: 64, responseFields: {} })
  expect(loaded?.code).toContain('unique_tenant_id')
})

test('hands out the code after the disk had a bad moment', async () => {
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
    ['a manifest that is wrong', { version: 'one' }, undefined, 'acme@one', 'version: found "one"'],
    ['another runtime', { runtime: '^9.0.0' }, undefined, 'acme@1.0.0', 'this runtime speaks'],
  ])('is %s; it says whose it is and why', async (_name, changes, code, who, why) => {
    const { registry } = open()
    await drop(registry, path.join(plugins(), 'x'), changes, code)
    expect(rows(registry)).toEqual([{ row: `${who} ghost`, reason: expect.stringContaining(why) }])
    expect(registry.find('acme')).toBeNull()
  })

  test('is a folder without a manifest', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await mkdir(directory)
    await registry.refresh(directory)
    expect(rows(registry)).toEqual([
      { row: 'null@null ghost', reason: 'there is no connector.json in the folder' },
    ])
  })

  test('is a folder that cannot be judged; it is judged again when it is looked at again', async () => {
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

  test('stops no other folder', async () => {
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
  /** A describe that ends when it is told to. */
  const held = () => {
    const { promise, resolve } = Promise.withResolvers<string[]>()
    return { end: () => resolve(['validate_credentials']), describe: () => promise }
  }

  test('at a folder never seen before ends when its check has begun: it is listed as checking', async () => {
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

  test('at a folder that was judged before ends when it is served', async () => {
    const { registry, data } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    const again = open({ data }).registry
    await again.look(directory)
    expect(short(again)).toEqual(['acme@1.0.0 ready, serving'])
  })

  test('at a folder edited while the runtime was down: the last good version serves meanwhile', async () => {
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
  test('takes over, and what it replaced is retired', async () => {
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
    ['broken', {}, BROKEN],
    ['of a wrong manifest', { version: 'x' }, undefined],
  ])('that is %s stands beside what goes on serving', async (_name, changes, code) => {
    const { registry, retired } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await drop(registry, directory, changes, code)
    expect(short(registry)).toEqual([
      'acme@1.0.0 ready, serving',
      expect.stringMatching(/^acme@.* ghost$/),
    ])
    expect(retired).toEqual([])
  })

  test('that takes connector.json away stands beside what goes on serving', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await rm(path.join(directory, 'connector.json'))
    await registry.refresh(directory)
    expect(short(registry)).toContain('acme@1.0.0 ready, serving')
    expect(registry.find('acme')).not.toBeNull()
  })

  test('that is mended serves', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory, {}, BROKEN)
    await drop(registry, directory)
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving'])
  })

  test('that is taken back is served without being judged again', async () => {
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

  test('of nothing is none', async () => {
    const { registry, changes } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    const before = changes.length
    await registry.refresh(directory)
    expect(changes.length).toBe(before)
  })

  test('that is overtaken by another does not come back', async () => {
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

  test('to another id gives the old one up', async () => {
    const { registry, retired } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await drop(registry, directory, { id: 'beta' })
    expect(registry.ids()).toEqual(['beta'])
    expect(retired).toEqual(['acme@1.0.0'])
  })
})

describe('an edit that reaches further', () => {
  const wider = {
    version: '1.1.0',
    egress: [{ url: 'https://api.acme.example' }, { url: 'https://evil.example' }],
  }

  test('waits under `closed`, saying what it wants', async () => {
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

  test('waits under `closed` after a restart too', async () => {
    const { registry, data } = open({ dropIn: 'closed' })
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await write(directory, filesOf(wider))
    const again = open({ dropIn: 'closed', data }).registry
    await again.refresh(directory)
    expect(short(again)).toEqual(['acme@1.0.0 ready, serving', 'acme@1.1.0 ghost'])
  })

  test('serves under `open`', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await drop(registry, directory, wider)
    expect(short(registry)).toEqual(['acme@1.1.0 ready, serving'])
  })

  test('is none when it reaches less', async () => {
    const { registry } = open({ dropIn: 'closed' })
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory, wider)
    await drop(registry, directory)
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving'])
  })

  test('is one when it asks for a clear secret', async () => {
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

  test('waits for the grant, and what it served before goes on', async () => {
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
})

describe('after a restart', () => {
  test('nothing is judged again', async () => {
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

  test('of a folder that was removed nothing comes back', async () => {
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
  test('serves no more, and says so', async () => {
    const { registry, retired, changes } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    registry.remove(directory)
    expect([registry.list(), registry.ids(), registry.find('acme')]).toEqual([[], [], null])
    expect(retired).toEqual(['acme@1.0.0'])
    expect(changes.at(-1)).toMatchObject({ serving: false, reason: 'the folder is gone' })
  })

  test('that nobody knew is no matter', () => {
    const { registry, changes } = open()
    registry.remove('/nowhere')
    expect(changes).toEqual([])
  })

  test('serves again when it is back', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    registry.remove(directory)
    await registry.refresh(directory)
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving'])
  })

  test('does not come back by the verdict that was under way', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await write(directory, filesOf({}, uncompiled()))
    const under = registry.refresh(directory)
    registry.remove(directory)
    await under
    expect([registry.list(), registry.ids()]).toEqual([[], []])
  })

  test('that is gone while it is read is a ghost at most', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await registry.refresh(directory)
    expect(registry.ids()).toEqual([])
  })

  test('and renamed serves under its new name', async () => {
    const { registry } = open()
    const directory = path.join(plugins(), 'x')
    await drop(registry, directory)
    await rename(directory, `${directory}-new`)
    registry.remove(directory)
    await registry.refresh(`${directory}-new`)
    expect(registry.list()).toMatchObject([{ folder: `${directory}-new`, serving: true }])
  })

  test('whose data directory cannot be written stops nothing', async () => {
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
  test('in two spellings: the first by name serves, the other says why not', async () => {
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

  test('who serves goes on serving when the other comes first by name', async () => {
    const { registry } = open()
    const home = plugins()
    await drop(registry, path.join(home, 'b'), { id: 'acme-x' })
    await drop(registry, path.join(home, 'a'), { id: 'acme_x', version: '2.0.0' })
    expect(registry.find('acme-x')).toMatchObject({ version: '1.0.0' })
  })

  test('the other takes over when the first goes', async () => {
    const { registry } = open()
    const home = plugins()
    await drop(registry, path.join(home, 'a'), { id: 'acme-x' })
    await drop(registry, path.join(home, 'b'), { id: 'acme_x', version: '2.0.0' })
    registry.remove(path.join(home, 'a'))
    expect(short(registry)).toEqual(['acme_x@2.0.0 ready, serving'])
  })

  test('a copy of the same files serves once', async () => {
    const { registry, retired } = open()
    const home = plugins()
    await drop(registry, path.join(home, 'a'))
    await drop(registry, path.join(home, 'b'))
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving', 'acme@1.0.0 ghost'])
    registry.remove(path.join(home, 'a'))
    expect(short(registry)).toEqual(['acme@1.0.0 ready, serving'])
    expect(retired).toEqual([])
  })

  test('copies of the same files are judged once', async () => {
    const { registry } = open()
    const home = plugins()
    const code = uncompiled()
    const before = bench.judged
    await Promise.all(
      ['a', 'b', 'c'].map((name) => drop(registry, path.join(home, name), {}, code)),
    )
    expect(bench.judged).toBe(before + 1)
  })

  test('a built-in one comes before who serves already', async () => {
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

test('a lane of its own for each version that is not built in', async () => {
  const { registry } = open()
  const directory = path.join(plugins(), 'x')
  await drop(registry, directory)
  const first = registry.find('acme')?.lane
  await drop(registry, directory, { version: '2.0.0' })
  expect(registry.find('acme')?.lane).not.toBe(first)
})
