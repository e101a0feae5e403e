/**
 * Kills processes in the middle of a migration, a rotation, a backup or a restore, and checks that the next
 * process recovers. By default a few of their steps are tried. STEPS=all tries every step, which takes hours
 * for backup and restore (a step for each file). STEPS=40 tries 40 steps of each, half of them consecutive
 * ones at the end. With STEPS set, each step is printed.
 */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rm, utimes } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import { type ClientConfig, escapeIdentifier } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agreeOnSecret } from '../../runtime/core/kernel/deployment/deployment.ts'
import { principalOfToken } from '../../runtime/core/kernel/identity/principal.ts'
import { createTokenHasher } from '../../runtime/core/kernel/identity/token-hasher.ts'
import type { Database } from '../../runtime/database/database.ts'
import { type EmbeddedDatabase, startEmbedded } from '../../runtime/database/embedded.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { resealAll } from '../../runtime/rotation/rotate-secrets.ts'
import { SEALED_PLACES } from '../../runtime/rotation/sealed-places.ts'
import { createSealer } from '../../runtime/secrets/seal.ts'
import { bundled } from '../kit/bundled.ts'
import { newFolder } from '../kit/folder.ts'
import { withDatabase } from '../kit/template.ts'
import { shows } from '../symptoms.ts'
import { forgetDatabase } from './forget.ts'
import { loadKept, SECRET, TOKEN, withClient } from './kept.ts'
import { shapeOf } from './shape.ts'

const run = promisify(execFile)
const PASSWORD = 'p'.repeat(40)

const home = newFolder('killed')
const dataDirs: string[] = []
const begin = (dataDir: string, password: string): Promise<EmbeddedDatabase> =>
  startEmbedded({ dataDir, password, tell: () => {}, onLine: () => {} })

/** The password of a copied database, or else that of the test. */
function passwordOf(dataDir: string): string {
  const file = path.join(dataDir, 'database-password')
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : PASSWORD
}

let server: EmbeddedDatabase
beforeAll(async () => {
  child = await bundled(path.join(import.meta.dirname, 'killed-at.ts'))
  dataDirs.push(path.join(home, 'data'))
  server = await begin(path.join(home, 'data'), PASSWORD)
  await withClient(server.connection, (client) => client.query('create table marks ()'))
})
afterAll(async () => {
  await server.stop()
  for (const dataDir of new Set(dataDirs)) await forgetDatabase(dataDir)
  await rm(home, { recursive: true, force: true })
})

const urlOf = ({ host, database }: ClientConfig): string =>
  `postgres://keyway:${PASSWORD}@/${database}?host=${host}`

let child: string

/** Runs an operation without killing it, and returns how many steps it has. */
async function whole(what: string, ...args: string[]): Promise<number> {
  const { stdout } = await run(process.execPath, [child, what, '0', ...args])
  return Number(stdout)
}

async function killed(what: string, step: number, ...args: string[]): Promise<void> {
  const how = await run(process.execPath, [child, what, String(step), ...args]).catch(
    (error: { signal: string; stderr: string }) => error.signal ?? error.stderr,
  )
  expect(how).toBe('SIGKILL')
}

/** How many steps to try; 0 for the few by default. */
const ASKED =
  process.env['STEPS'] === 'all' ? Number.POSITIVE_INFINITY : Number(process.env['STEPS'] ?? 0)
/** How long a test may take, in milliseconds. */
const PATIENCE_MS = ASKED > 0 ? 8 * 3_600_000 : 120_000

const counted = (number: number, step: (n: number) => number): number[] =>
  Array.from({ length: number }, (_, n) => step(n))

/** Selects some of the steps, from the first to the last; the last ones are consecutive. */
function someOf(steps: number, number: number, last: number): number[] {
  const [spread, end] = ASKED > 0 ? [Math.floor(ASKED / 2), Math.ceil(ASKED / 2)] : [number, last]
  if (spread + end >= steps) return counted(steps, (n) => 1 + n)
  return [
    ...counted(spread, (n) => 1 + Math.floor((n * (steps - end)) / spread)),
    ...counted(end, (n) => steps - end + 1 + n),
  ]
}

function progress(what: string, step: number, steps: number): void {
  if (ASKED > 0) console.log(`${what}: killed at step ${step} of ${steps}`)
}

/** A copy of a database of the server. */
async function copied(from: string, name: string): Promise<ClientConfig> {
  await withClient({ ...server.connection, database: 'postgres' }, (client) =>
    client.query(`create database ${escapeIdentifier(name)} template ${escapeIdentifier(from)}`),
  )
  return { ...server.connection, database: name }
}

/** Drops a copy: there may be hundreds. */
const dropped = ({ database }: ClientConfig) =>
  withClient({ ...server.connection, database: 'postgres' }, (client) =>
    client.query(`drop database ${escapeIdentifier(database ?? '')} with (force)`),
  )

describe('a process killed in the middle of', () => {
  const file = path.join(home, 'backup.tar.gz')

  test(
    'a backup leaves no file under its name, and the next backup succeeds',
    async () => {
      const args = [urlOf(server.connection), server.cluster, file]
      const aside = path.join(home, 'aside.tar.gz')
      const steps = await whole('backup', ...args.with(2, aside))
      for (const step of someOf(steps, 2, 1)) {
        progress('backup', step, steps)
        await killed('backup', step, ...args)
        const left = readdirSync(home).filter((name) => name.startsWith('backup.tar.gz'))
        expect(left.filter((name) => !name.endsWith('.partial'))).toEqual([])
        // Simulates that two hours have passed.
        for (const name of left) {
          const then = new Date(Date.now() - 7_200_000)
          await utimes(path.join(home, name), then, then)
        }
      }
      await whole('backup', ...args)
      expect(readdirSync(home).filter((name) => name.startsWith('backup.tar.gz'))).toEqual([
        'backup.tar.gz',
      ])
      const slots = await withClient(server.connection, (client) =>
        client.query('select from pg_replication_slots'),
      )
      expect(slots.rowCount).toBe(0)
    },
    PATIENCE_MS,
  )

  test(
    'a restore leaves the old or the restored database, or the next start reports that it was cut off',
    async () => {
      if (!existsSync(file)) await whole('backup', urlOf(server.connection), server.cluster, file)
      const steps = await whole('restore', path.join(home, 'counted'), file, PASSWORD)
      dataDirs.push(path.join(home, 'counted'))
      const more = ASKED > 0 ? 1 : 0
      const fresh = someOf(steps - 1 + more, 1, 1).map((step) => ({ step, held: false }))
      // One more step: the existing database is moved aside.
      const held = someOf(steps + more, 0, 2).map((step) => ({ step, held: true }))
      let cutOff = 0
      for (const { step, held: isHeld } of [...fresh, ...held]) {
        const dataDir = path.join(home, `${isHeld ? 'held' : 'fresh'}-${step}`)
        dataDirs.push(dataDir)
        progress(isHeld ? 'restore over a database' : 'restore', step, steps + (isHeld ? 1 : 0))
        if (isHeld) await withDatabase(dataDir)
        const own = () => passwordOf(dataDir)
        await killed('restore', step, dataDir, file, own())
        const found = await begin(dataDir, own()).catch((error: Error) => error)
        if (found instanceof Error) {
          expect(isHeld).toBe(false)
          expect(found.message).toMatch(/was cut off.*keyway restore FILE/)
          shows('a start is refused: “was cut off', found.message)
          cutOff += 1
          await whole('restore', dataDir, file, own())
        }
        const now = found instanceof Error ? await begin(dataDir, own()) : found
        const { rows } = await withClient(now.connection, (client) =>
          client.query(
            `select to_regclass('marks') is not null as restored, to_regclass('users') is not null as own`,
          ),
        )
        await now.stop()
        expect({ step, right: rows[0].own !== rows[0].restored }).toEqual({ step, right: true })
        if (!isHeld) expect(rows[0]).toEqual({ own: false, restored: true })
        await forgetDatabase(dataDir)
        await rm(dataDir, { recursive: true, force: true })
      }
      expect(cutOff).toBeGreaterThan(0)
    },
    PATIENCE_MS,
  )
})

describe('killed in the middle of an upgrade', () => {
  test(
    'a host leaves a database that the next start migrates completely',
    async () => {
      await loadKept(server.connection, '0013', 'before')
      const right = await copied('before', 'right')
      const steps = await whole('migrate', urlOf(right))
      expect(steps).toBeGreaterThan(100)
      const shape = await shapeOf(right)
      expect([shape['requests']?.length, shape['domains']]).toEqual([4, ['default']])
      for (const step of someOf(steps, 4, 2)) {
        const connection = await copied('before', `killed_at_${step}`)
        progress('migration', step, steps)
        await killed('migrate', step, urlOf(connection))
        const opened = await openDatabase(connection, () => {})
        await opened.close()
        expect({ step, ...(await shapeOf(connection)) }).toEqual({ step, ...shape })
        await dropped(connection)
      }
    },
    PATIENCE_MS,
  )
})

describe('killed in the middle of a rotation', () => {
  const NEW = 'the-secret-that-is-new-'.repeat(2)

  /** Sealed values that the newest secret alone does not open. */
  async function unopened({ db }: Database): Promise<string[]> {
    const vault = createSealer([NEW], 'connection')
    const lost: string[] = []
    let all = 0
    for (const { table, key, column, bound } of SEALED_PLACES) {
      const { rows } = await db.execute<{ domainId: string; key: string; sealed: Buffer }>(
        sql`select domain_id as "domainId", ${sql.identifier(key)}::text as key, ${sql.identifier(column)} as sealed
          from ${sql.identifier(table)} where ${sql.identifier(column)} is not null`,
      )
      for (const row of rows) {
        all += 1
        try {
          vault.open(row.sealed, bound(row.domainId, row.key))
        } catch (error) {
          lost.push(`${table} ${row.key}: ${(error as Error).message}`)
        }
      }
    }
    expect(all).toBeGreaterThan(1)
    return lost
  }

  test(
    'a host leaves credentials and tokens that the next start can use and reseal',
    async () => {
      await loadKept(server.connection, '0024', 'old_secret')
      const secrets = `${NEW},${SECRET}`
      const steps = await whole('rotate', urlOf(await copied('old_secret', 'rotated')), secrets)
      for (const step of someOf(steps, 2, 2)) {
        const connection = await copied('old_secret', `rotated_${step}`)
        progress('rotation', step, steps)
        await killed('rotate', step, urlOf(connection), secrets)
        const opened = await openDatabase(connection, () => {})
        const hears = { signal: new AbortController().signal, info: () => {}, warn: () => {} }
        expect(await agreeOnSecret(opened.db, [NEW, SECRET])).toBe(true)
        await resealAll(opened.db, createSealer([NEW, SECRET], 'connection'), hears)
        expect(await unopened(opened)).toEqual([])
        const known = (...all: string[]) =>
          principalOfToken(opened.db, createTokenHasher(all), TOKEN)
        expect(await known(NEW, SECRET)).not.toBeNull()
        expect(await known(NEW)).not.toBeNull()
        await opened.close()
        await dropped(connection)
      }
    },
    PATIENCE_MS,
  )
})
