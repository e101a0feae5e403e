/** Databases outside of their data directory: which are left over, and that no other is removed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isRoot } from '../../runtime/database/server-home.ts'
import { outsideClusters, removeLeftOver } from '../../runtime/doctor/clusters.ts'

let home: string
let outside: string
let server: ChildProcess | null = null

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'keyway-doctor-'))
  outside = path.join(home, 'outside')
})
afterEach(async () => {
  server?.kill('SIGKILL')
  server = null
  await rm(home, { recursive: true, force: true })
})

const OLD = new Date(Date.now() - 7_200_000)
const placeOf = (number: number): string => number.toString(16).padStart(16, '0')

/** A database outside with the files of a server; last written two hours ago, unless `fresh`. */
async function cluster(
  number: number,
  owner: string | null,
  { fresh = false, pid = 0 } = {},
): Promise<string> {
  const folder = path.join(outside, placeOf(number))
  const inner = path.join(folder, 'cluster')
  await mkdir(path.join(inner, 'global'), { recursive: true })
  await mkdir(path.join(folder, 'socket'))
  await writeFile(path.join(inner, 'keyway.made'), '')
  await writeFile(path.join(inner, 'global', 'pg_control'), 'x'.repeat(8192))
  if (pid > 0) await writeFile(path.join(inner, 'postmaster.pid'), `${pid}\n${inner}\n`)
  if (owner !== null) await writeFile(path.join(folder, 'data-directory'), owner)
  if (fresh) return folder
  for (const one of [
    'cluster/global/pg_control',
    'cluster/postmaster.pid',
    'data-directory',
    'cluster',
  ])
    await utimes(path.join(folder, one), OLD, OLD).catch(() => undefined)
  return folder
}

/** A data directory that names a place outside. */
async function dataDirectory(name: string, place: string): Promise<string> {
  const dataDir = path.join(home, name)
  await mkdir(dataDir)
  await writeFile(path.join(dataDir, 'database-place'), place)
  return dataDir
}

const uses = async (dataDirs: string[] = []) =>
  Object.fromEntries(
    (await outsideClusters(dataDirs, outside)).map(({ place, use, why }) => [
      Number.parseInt(place, 16),
      `${use}: ${why}`,
    ]),
  )

test.skipIf(!isRoot())(
  'a database is left over only if its data directory is gone or uses another database',
  async () => {
    const gone = path.join(home, 'gone')
    await cluster(1, gone)
    await cluster(2, await dataDirectory('lives', placeOf(2)))
    const noted = await dataDirectory('noted', 'inside')
    await writeFile(path.join(noted, 'database-made'), path.join(outside, placeOf(3), 'cluster'))
    await cluster(3, noted)
    const again = await dataDirectory('again', placeOf(2))
    await cluster(4, again)
    await cluster(5, null)
    await cluster(6, gone, { fresh: true })
    const running = await cluster(7, gone)
    server = spawn('sleep', ['600'], { cwd: path.join(running, 'cluster') })
    await cluster(7, gone, { pid: server.pid as number }).catch(() => undefined)
    await writeFile(path.join(running, 'cluster', 'postmaster.pid'), `${server.pid}\n`)
    await cluster(8, gone, { pid: process.pid })
    await mkdir(path.join(outside, 'postgresql-18.4.0'))
    expect(await uses()).toEqual({
      1: `left_over: its data directory ${gone} no longer exists`,
      2: `used: it is the database of ${path.join(home, 'lives')}`,
      3: `used: it is the database of ${noted}`,
      4: `left_over: ${again} has another database now`,
      5: 'unknown: it does not record its data directory',
      6: 'unknown: it was written to within the last hour',
      7: `used: server process ${server.pid} uses it`,
      8: `left_over: its data directory ${gone} no longer exists`,
    })
    const removed = await removeLeftOver(null, [], outside)
    expect(removed.map(({ place }) => Number.parseInt(place, 16))).toEqual([1, 4, 8])
    expect(removed[0]?.bytes).toBeGreaterThan(8192)
    for (const number of [2, 3, 5, 6, 7])
      expect(existsSync(path.join(outside, placeOf(number), 'cluster', 'keyway.made'))).toBe(true)
    for (const number of [1, 4, 8])
      expect(existsSync(path.join(outside, placeOf(number)))).toBe(false)
  },
)

test.skipIf(!isRoot())(
  'a renamed data directory keeps its database if it is passed to the check',
  async () => {
    const before = await dataDirectory('before', placeOf(1))
    await cluster(1, before)
    const after = path.join(home, 'after')
    await rename(before, after)
    expect(await uses([after])).toEqual({ 1: `used: it is the database of ${after}` })
    expect(await removeLeftOver(null, [after], outside)).toEqual([])
  },
)

test.skipIf(!isRoot())('only the named databases are removed', async () => {
  for (const number of [1, 2]) await cluster(number, path.join(home, 'gone'))
  expect(await removeLeftOver([placeOf(2)], [], outside)).toHaveLength(1)
  expect(existsSync(path.join(outside, placeOf(1)))).toBe(true)
})

test('no databases are found if the folder does not exist', async () => {
  expect(await outsideClusters([], path.join(home, 'nothing'))).toEqual([])
})
