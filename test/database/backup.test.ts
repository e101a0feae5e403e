/** Takes a backup while rows are written, and restores it into another data directory. */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ArchiveWriter, writeArchive } from '../../runtime/database/backup/archive.ts'
import { backup } from '../../runtime/database/backup/backup.ts'
import { readSchema, type Schema } from '../../runtime/database/backup/catalog.ts'
import {
  type BackupKey,
  isClusterName,
  MANIFEST_NAME,
  machine,
  SCHEMA_NAME,
} from '../../runtime/database/backup/format.ts'
import { type RestoreOptions, restore } from '../../runtime/database/backup/restore.ts'
import { type EmbeddedDatabase, startEmbedded } from '../../runtime/database/embedded.ts'
import { DataDirInUseError, lockDataDir } from '../../runtime/database/host-lock.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { homeOf } from '../../runtime/database/server-home.ts'
import { backupKey, keyId } from '../../runtime/secrets/key-derivation.ts'
import { until } from '../e2e/until.ts'
import { newFolder } from '../kit/folder.ts'
import { forgetDatabase } from './forget.ts'
import { loadKept, STATES } from './kept.ts'

const home = newFolder('backup')
const file = path.join(home, 'backup.tar.gz')
const folders: string[] = []

const keyOf = (secret: string): BackupKey => ({ id: keyId(secret), sealKey: backupKey(secret) })
const KEY = keyOf('a'.repeat(40))
const OLDER = keyOf('b'.repeat(40))
const STRANGE = keyOf('c'.repeat(40))

function dataDirectory(name: string): string {
  const folder = path.join(home, name)
  folders.push(folder)
  return folder
}

/** Each data directory has a password of its own. */
const passwordOf = (dataDir: string): string => createHash('sha256').update(dataDir).digest('hex')

const start = (dataDir: string): Promise<EmbeddedDatabase> =>
  startEmbedded({ dataDir, password: passwordOf(dataDir), tell: () => {}, onLine: () => {} })

const take = (source: EmbeddedDatabase, target: string, force = false, signal?: AbortSignal) =>
  backup({
    connection: source.connection,
    file: target,
    force,
    keys: [KEY, OLDER],
    version: '1.2.3',
    signal: signal ?? new AbortController().signal,
    onProgress: () => {},
  })

const put = (dataDir: string, options: Partial<RestoreOptions> = {}) =>
  restore({
    dataDir,
    file,
    force: false,
    keys: [KEY],
    password: async () => passwordOf(dataDir),
    signal: new AbortController().signal,
    tell: () => {},
    onProgress: () => {},
    ...options,
  })

type Connected = Pick<EmbeddedDatabase, 'connection'>

async function ask(database: Connected, sql: string) {
  const client = new Client(database.connection)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** The statements that create the tables of a database. */
async function schemaOf(database: Connected): Promise<Schema> {
  const client = new Client(database.connection)
  await client.connect()
  try {
    await client.query('begin')
    return await readSchema(client, new Set())
  } finally {
    await client.end()
  }
}

let source: EmbeddedDatabase
/** Rows, with the time at which each was acknowledged. */
const acknowledged: { n: number; atMs: number }[] = []
let result: Awaited<ReturnType<typeof take>>
let rowsBefore = 0

beforeAll(async () => {
  source = await start(dataDirectory('source'))
  await (await openDatabase(source.connection, () => {})).close()
  await ask(
    source,
    `create table marks (n serial primary key, filler text);
     create index marks_filler on marks (filler);
     create table bulk as select n, md5(n::text) as text from generate_series(1, 30000) n;
     create index bulk_text on bulk (text);
     analyze bulk`,
  )
  const stop = new AbortController()
  const writers = Array.from({ length: 3 }, async () => {
    const client = new Client(source.connection)
    await client.connect()
    while (!stop.signal.aborted) {
      const { rows } = await client.query(
        'insert into marks (filler) values (repeat(md5(random()::text), 8)) returning n',
      )
      acknowledged.push({ n: rows[0].n, atMs: Date.now() })
    }
    await client.end()
  })
  await until('rows are acknowledged', () => acknowledged.length > 10)
  rowsBefore = acknowledged.length
  result = await take(source, file)
  stop.abort()
  await Promise.all(writers)
})

afterAll(async () => {
  await source.stop()
  for (const folder of folders) await forgetDatabase(folder)
  await rm(home, { recursive: true, force: true })
})

describe('a backup', () => {
  test('of a database in use contains every row that was acknowledged before it was taken', async () => {
    const untilMs = Date.parse(result.completeUntil)
    const promised = acknowledged.filter(({ atMs }) => atMs < untilMs).map(({ n }) => n)
    expect(promised.length).toBeGreaterThanOrEqual(rowsBefore)
    expect(rowsBefore).toBeGreaterThan(0)
    const dataDir = dataDirectory('restored')
    const { manifest, before, missingKeys } = await put(dataDir)
    expect(manifest).toMatchObject({ keyway: '1.2.3', postgresql: 18, key_ids: [KEY.id, OLDER.id] })
    expect(before).toBeNull()
    expect(missingKeys).toEqual([OLDER.id])

    const restored = await start(dataDir)
    const found = new Set((await ask(restored, 'select n from marks')).map(({ n }) => n))
    expect(promised.filter((n) => !found.has(n))).toEqual([])
    const [here, there] = [await schemaOf(restored), await schemaOf(source)]
    expect(here.before).toEqual(there.before)
    expect(here.tables).toEqual(there.tables)
    // The sequence of the table advanced while rows were written.
    const lasting = (all: string[]) => all.filter((one) => !one.includes('marks_n_seq'))
    expect(lasting(here.after)).toEqual(lasting(there.after))
    await (await openDatabase(restored.connection, () => {})).close()
    await ask(restored, 'create extension amcheck')
    const [checked] = await ask(
      restored,
      `select count(bt_index_check(c.oid, true))::int as n from pg_class c
       join pg_am a on a.oid = c.relam where c.relkind = 'i' and a.amname = 'btree' and c.relpersistence = 'p'`,
    )
    expect(checked.n).toBeGreaterThan(100)
    await ask(restored, 'select verify_heapam(oid) from pg_class where relkind = $$r$$')
    const byIndex = 'select count(*)::int as n from bulk where text > $$0$$'
    const plan = JSON.stringify(await ask(restored, `explain ${byIndex} and text < $$1$$`))
    expect(plan).toContain('bulk_text')
    expect(await ask(restored, byIndex)).toEqual(await ask(source, byIndex))
    await ask(restored, "insert into marks (filler) values ('goes on')")
    await restored.stop()
    // A restored database has its own password, not that of its source.
    await expect(
      startEmbedded({
        dataDir,
        password: passwordOf(path.join(home, 'source')),
        tell: () => {},
        onLine: () => {},
      }),
    ).rejects.toThrow(/password/)
  })

  test('is readable only by its owner, contains no password, and leaves no temporary file', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const content = gunzipSync(readFileSync(file))
    for (const secret of [passwordOf(path.join(home, 'source')), 'a'.repeat(40)])
      expect(content.includes(secret)).toBe(false)
    expect(readdirSync(home).filter((name) => name.startsWith('backup'))).toEqual(['backup.tar.gz'])
  })

  test('does not replace a file without --force', async () => {
    const other = path.join(home, 'other.tar.gz')
    writeFileSync(other, 'precious')
    await expect(take(source, other)).rejects.toThrow(/is there already.*--force/)
    expect(readFileSync(other, 'utf8')).toBe('precious')
    await take(source, other, true)
    expect(gunzipSync(readFileSync(other)).includes('manifest.json')).toBe(true)
    await rm(other)
  })

  test('that is stopped leaves neither a file nor an open backup', async () => {
    const stop = new AbortController()
    const taken = take(source, path.join(home, 'stopped.tar.gz'), false, stop.signal)
    setTimeout(() => stop.abort(), 30)
    await expect(taken).rejects.toThrow()
    expect(readdirSync(home).filter((name) => name.startsWith('stopped'))).toEqual([])
    await take(source, path.join(home, 'stopped.tar.gz'))
    await rm(path.join(home, 'stopped.tar.gz'))
  })
})

describe('the schema that a backup stores', () => {
  test.each(STATES)(
    'of a database at migration %s recreates it in an empty database',
    async (state) => {
      const kept = await loadKept(source.connection, state)
      const there = await schemaOf({ connection: kept })
      const empty = { ...source.connection, database: `again_${state}` }
      await ask(source, `create database ${empty.database}`)
      await ask({ connection: empty }, [...there.before, ...there.after].join(';\n'))
      expect(await schemaOf({ connection: empty })).toEqual(there)
      const always = `select count(*)::int as n from pg_trigger where tgenabled = 'A'`
      expect(await ask({ connection: empty }, always)).toEqual(
        await ask({ connection: kept }, always),
      )
    },
  )
})

test('a backup refuses a database with an object that it cannot store, and names the object', async () => {
  await ask(source, 'create view seen as select 1 as one')
  await expect(take(source, path.join(home, 'seen.tar.gz'))).rejects.toThrow(
    /the database has public.seen, which is none of Keyway's/,
  )
  await ask(source, 'drop view seen')
})

test('a backup in format 1, which contains the files of a server, is restored', async () => {
  const dataDir = dataDirectory('of-files')
  const before = await start(dataDir)
  await ask(
    before,
    "create table kept as select 'of before' as text; create table sessions (id int); insert into sessions values (1)",
  )
  const { cluster } = before
  await before.stop()
  const made = path.join(home, 'of-files.tar.gz')
  const options = { file: made, force: false, signal: new AbortController().signal }
  await writeArchive(options, async (writer) => {
    const about = { format: 1, keyway: '0.1.0', postgresql: 18, machine: machine(), made_at: '' }
    const manifest = { ...about, key_ids: [KEY.id] }
    await writer.addBytes(MANIFEST_NAME, Buffer.from(JSON.stringify(manifest)))
    for (const entry of readdirSync(cluster, { recursive: true, withFileTypes: true })) {
      const at = path.join(entry.parentPath, entry.name)
      const name = `cluster/${path.relative(cluster, at)}`
      if (entry.isDirectory()) await writer.addFolder(`${name}/`)
      else await writer.addBytes(name, readFileSync(at))
    }
    await writer.seal(KEY, '2026-01-01T00:00:00.000Z', 1)
  })
  const to = dataDirectory('from-files')
  expect((await put(to, { file: made })).completeUntil).toBe('2026-01-01T00:00:00.000Z')
  const restored = await start(to)
  expect(await ask(restored, 'select text from kept')).toEqual([{ text: 'of before' }])
  expect(await ask(restored, 'select * from sessions')).toEqual([])
  await restored.stop()
})

describe('a restore refuses', () => {
  const refused = async (options: Partial<RestoreOptions>, dataDir = dataDirectory('refused')) => {
    const why = await put(dataDir, options).then(
      () => 'nothing',
      (error) => (error as Error).message,
    )
    // No file is left, and a host would create a new database.
    const { cluster } = homeOf(dataDir)
    expect(readdirSync(path.dirname(cluster)).filter((name) => name.includes('.'))).toEqual(
      readdirSync(path.dirname(cluster)).filter((name) => name.startsWith('postgresql-')),
    )
    expect(readdirSync(cluster)).toEqual([])
    expect(existsSync(path.join(dataDir, 'host.lock'))).toBe(false)
    return why
  }

  let files = 0
  const newFile = () => {
    files += 1
    return path.join(home, `made-${files}.gz`)
  }

  const written = async (content: Buffer): Promise<string> => {
    const edited = newFile()
    writeFileSync(edited, content)
    return edited
  }

  const crafted = async (
    manifest: object,
    fill: (writer: ArchiveWriter) => Promise<void> = async () => {},
    key = KEY,
  ): Promise<string> => {
    const made = newFile()
    const whole = {
      format: 1,
      keyway: '9.9.9',
      postgresql: 18,
      machine: machine(),
      made_at: '',
      key_ids: [KEY.id],
      ...manifest,
    }
    const options = { file: made, force: false, signal: new AbortController().signal }
    await writeArchive(options, async (writer) => {
      await writer.addBytes(MANIFEST_NAME, Buffer.from(JSON.stringify(whole)))
      await fill(writer)
      await writer.seal(key, '', whole.format)
    })
    return made
  }

  /** A backup in format 2, with tables. */
  const ofTables = (
    schema: object,
    fill: (writer: ArchiveWriter) => Promise<void> = async () => {},
    key = KEY,
  ) =>
    crafted(
      { format: 2 },
      async (writer) => {
        await writer.addBytes(SCHEMA_NAME, Buffer.from(JSON.stringify(schema)))
        await fill(writer)
      },
      key,
    )

  /** A small backup that is complete, except that its files are not those of a server. */
  const small = async () =>
    readFileSync(
      await crafted({}, async (writer) => {
        for (const name of ['a', 'b', 'c'])
          await writer.addBytes(`cluster/base/${name}`, randomBytes(50_000))
        await writer.addBytes('cluster/base/d', Buffer.alloc(50_000, 'precious '))
      }),
    )

  test('a different secret, and names the one that it needs', async () => {
    expect(await refused({ keys: [STRANGE, OLDER] })).toMatch(
      new RegExp(`needs the secret with the key id ${KEY.id}; given: ${STRANGE.id}, ${OLDER.id}`),
    )
    expect(await refused({ keys: [] })).toMatch(/none is there/)
  })

  test('a file that was truncated anywhere', async () => {
    const whole = await small()
    for (const at of [0, 1, 10, 300, 20_000, 100_000, whole.length - 500, whole.length - 1]) {
      const why = await refused({ file: await written(whole.subarray(0, at)) })
      expect(why, `cut at ${at}`).toMatch(
        new RegExp(
          `is not a whole backup of Keyway: ${at === 0 ? 'it is empty' : `it was cut off after ${at} bytes`}. Nothing was changed. Copy it again`,
        ),
      )
    }
    const real = readFileSync(file)
    const cut = await written(real.subarray(0, Math.floor(real.length * 0.9)))
    expect(await refused({ file: cut })).toMatch(/is not a whole backup of Keyway/)
  })

  test('a file in which a byte was changed', async () => {
    const whole = await small()
    // The ten bytes of gzip's header are skipped: some have no meaning.
    for (const place of [10, 200, 30_000, 120_000, whole.length - 400, whole.length - 6]) {
      const bytes = Buffer.from(whole)
      bytes[place] = (bytes[place] ?? 0) ^ 0x10
      const why = await refused({ file: await written(bytes) })
      // The message depends on what the byte was: a length, or a character of the manifest.
      expect(why, `changed at ${place}`).toMatch(
        /is not a whole backup|is not what was written|was made (on|by|with)/,
      )
    }
  })

  test.each([
    ['text', Buffer.from('a letter '.repeat(200))],
    ['compressed text', gzipSync(Buffer.from('a letter '.repeat(200)))],
    ['compressed zero bytes', gzipSync(Buffer.alloc(4096))],
  ])('a file of another kind: %s', async (_, content) => {
    expect(await refused({ file: await written(content) })).toMatch(
      /is not a backup of Keyway: it does not begin as one.*Name a file that `keyway backup` has written/,
    )
  })

  test('content that was edited and recompressed', async () => {
    const bytes = gunzipSync(await small())
    bytes[bytes.indexOf('precious')] = 0x7a
    const why = await refused({ file: await written(gzipSync(bytes)) })
    expect(why).toMatch(/cluster\/base\/d is not what was written/)
  })

  test('data after its end', async () => {
    const made = await crafted({}, (writer) => writer.seal(KEY, '', 1))
    expect(await refused({ file: made })).toMatch(/something follows its end/)
  })

  test('a backup that was sealed with another secret', async () => {
    const made = await crafted({}, undefined, STRANGE)
    expect(await refused({ file: made })).toMatch(/its seal is not of this secret/)
  })

  test.each([
    [
      { postgresql: 17 },
      /made with PostgreSQL 17 by a version whose backups hold its files.*brings 18.*Keyway 9\.9\.9/,
    ],
    [{ machine: 'linux-s390x' }, /made on linux-s390x/],
    [{ format: 3 }, /made by Keyway 9\.9\.9, in a form that this version does not know/],
    [{ format: 2, postgresql: 19 }, /made with PostgreSQL 19.*brings 18, which does not read/],
    [{ key_ids: [] }, /is not a whole backup/],
  ])('a backup whose manifest has %j', async (manifest, says) => {
    expect(await refused({ file: await crafted(manifest) })).toMatch(says)
  })

  test('a backup with a file outside the data directory', async () => {
    const made = await crafted({}, (writer) =>
      writer.addBytes('cluster/../../escaped', Buffer.from('x')),
    )
    expect(await refused({ file: made })).toMatch(/it holds "cluster\/\.\.\/\.\.\/escaped"/)
    expect(existsSync(path.join(home, 'escaped'))).toBe(false)
  })

  test('server files that the server cannot recover', async () => {
    const made = await crafted({}, (writer) =>
      writer.addBytes('cluster/PG_VERSION', Buffer.from('18\n')),
    )
    expect(await refused({ file: made })).toMatch(/cannot be recovered/)
  })

  const ONE = { before: ['create table public.one (a int)'], after: [] }
  const TABLES = [{ name: 'public.one', columns: 'a' }]

  test.each([
    [
      'a schema that the server refuses',
      { ...ONE, before: ['create tablet'], tables: [] },
      [],
      /the tables in the backup cannot be made: syntax error.*Nothing was changed/,
    ],
    [
      'rows that do not fit their table',
      { ...ONE, tables: TABLES },
      [['data/0/0', 'a letter\n']],
      /cannot be made: invalid input syntax for type integer/,
    ],
    ['rows of no table', { ...ONE, tables: [] }, [['data/0/0', '1\n']], /rows of no table: 0/],
    [
      'an entry of an unknown name',
      { ...ONE, tables: TABLES },
      [['data/0/x', '1\n']],
      /it holds "data\/0\/x"/,
    ],
    ['no schema', { before: [] }, [], /Invalid key: Expected "tables"/],
  ])('a backup with %s', async (_, schema, data, says) => {
    const made = await ofTables(schema, async (writer) => {
      for (const [name = '', rows = ''] of data) await writer.addBytes(name, Buffer.from(rows))
    })
    expect(await refused({ file: made })).toMatch(says)
  })

  test('statements that were sealed with another secret, before any is run', async () => {
    const mark = path.join(home, 'run')
    const before = [`copy (select 1) to program 'touch ${mark}'`]
    expect(
      await refused({
        file: await ofTables({ before, tables: [], after: [] }, undefined, STRANGE),
      }),
    ).toMatch(/its seal is not of this secret/)
    expect(existsSync(mark)).toBe(false)
  })

  test('a data file above the maximum size', async () => {
    const made = await ofTables({ ...ONE, tables: TABLES }, (writer) =>
      writer.addBytes('data/0/0', Buffer.alloc(4 * 1024 * 1024 + 1, '1\n')),
    )
    expect(await refused({ file: made })).toMatch(/cannot be read \(too large\)/)
  })

  test('a data directory that a host uses', async () => {
    const dataDir = dataDirectory('used')
    const unlock = await lockDataDir(dataDir)
    await expect(put(dataDir)).rejects.toThrow(DataDirInUseError)
    await unlock()
  })

  test('a data directory that has a database; with --force it keeps that database aside', async () => {
    // The data directory that was restored above, and written to since.
    const dataDir = path.join(home, 'restored')
    const { cluster } = homeOf(dataDir)
    const rows = async () => {
      const database = await start(dataDir)
      try {
        return await ask(database, "select filler from marks where filler = 'goes on'")
      } finally {
        await database.stop()
      }
    }
    await expect(put(dataDir)).rejects.toThrow(/there is a database.*--force/)
    const { before } = await put(dataDir, { force: true })
    expect(await rows()).toEqual([])

    // Killed while it unpacked, or after it unpacked but before it moved anything: the old database stays.
    await rename(cluster, `${cluster}.restored`)
    await rename(before ?? '', cluster)
    await mkdir(`${cluster}.unpacking`)
    expect(await rows()).toEqual([{ filler: 'goes on' }])
    const left = readdirSync(path.dirname(cluster))
    expect(left.filter((name) => /unpacking|restored/.test(name))).toEqual([])

    // Killed after it moved the old database away and before the new one was in place: the start completes
    // it.
    await rename(cluster, `${cluster}.restored`)
    expect(await rows()).toEqual([{ filler: 'goes on' }])
  })
})

test.each([
  ['cluster/base/1/1234', true],
  ['cluster/pg_wal/', true],
  ['cluster/', true],
  ['cluster/global/pg_control', true],
  ['cluster/../x', false],
  ['cluster/a/..', false],
  ['cluster//x', false],
  ['cluster/.hidden', false],
  ['/etc/passwd', false],
  ['cluster/a\nb', false],
  ['clusters/a', false],
])('%j may be in a backup: %s', (name, allowed) => {
  expect(isClusterName(name)).toBe(allowed)
})
