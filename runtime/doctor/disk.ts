/** What the disk tells, with the host up or down. Nothing is changed. */
import { readFile, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { DoctorCheck, DoctorFinding, OutsideCluster } from '../contract/endpoints/doctor.ts'
import { lastBackup } from '../database/backup/noted.ts'
import { programsVersion } from '../database/binaries.ts'
import { homeOf, isMade } from '../database/home.ts'
import { runsOn } from '../database/postmaster.ts'
import { bytesWords, entriesOf, secondsWords, sizeOf } from './sizes.ts'

/** A disk with less than these shares free needs somebody soon, or now. */
const LOOK_FREE = 0.2
const ACT_FREE = 0.1
/** Oldest that the last backup may be, in milliseconds: as the alert rules have it (scripts/deploy). */
const BACKUP_MS = 2 * 86_400_000
/** What a process makes for a moment is left behind when it is older, in milliseconds. */
const MOMENT_MS = 86_400_000
/** From so many bytes on, compiled connectors are worth a look. */
const MANY_BYTES = 1_000_000_000
/** Most that are named. */
const MOST_NAMED = 10

/** Where and whose: `isEmbedded` where the database is Keyway's own. */
export type Place = { dataDir: string; isEmbedded: boolean; clusters: readonly OutsideCluster[] }

type Found = Omit<DoctorFinding, 'check'>

const good = (what: string): Found => ({ state: 'good', what, advice: null })
const look = (what: string, advice: string): Found => ({ state: 'look', what, advice })
const act = (what: string, advice: string): Found => ({ state: 'act', what, advice })

const CHECKS: Partial<Record<DoctorCheck, (place: Place) => Promise<Found>>> = {
  disk: async ({ dataDir, isEmbedded }) => {
    const folders = new Set([
      dataDir,
      ...(isEmbedded && (await isMade(homeOf(dataDir))) ? [homeOf(dataDir).cluster] : []),
    ])
    const disks = await Promise.all(
      [...folders].map(async (folder) => {
        const { bavail, bsize, blocks } = await statfs(folder)
        const words = `${bytesWords(bavail * bsize)} of ${bytesWords(blocks * bsize)} are free at ${folder}`
        return { share: blocks === 0 ? 1 : bavail / blocks, words }
      }),
    )
    const what = disks.map(({ words }) => words).join('; ')
    const least = Math.min(...disks.map(({ share }) => share))
    const advice = 'make room, or move it to a larger disk: a full one refuses what is written'
    return least < ACT_FREE
      ? act(what, advice)
      : least < LOOK_FREE
        ? look(what, advice)
        : good(what)
  },
  backup: async ({ dataDir, isEmbedded }) => {
    if (!isEmbedded) return good('the database is your own; its backups are not Keyway’s')
    const home = homeOf(dataDir)
    if (!(await isMade(home))) return good('there is no embedded database yet')
    const note = await lastBackup(dataDir)
    const sinceMs = note ? Date.parse(note.complete_until) : (await stat(home.cluster)).birthtimeMs
    const ago = secondsWords(Math.max(0, Date.now() - sinceMs) / 1000)
    const what = note
      ? `the last backup is of ${ago} ago, with ${bytesWords(note.bytes)}`
      : `there was no backup in the ${ago} that the database is there`
    const advice = 'run `keyway backup FILE` every day, and keep the files on another machine'
    if (Date.now() - sinceMs > BACKUP_MS) return act(what, advice)
    return note ? good(what) : look(what, advice)
  },
  clusters: async ({ clusters }) => {
    const left = clusters.filter(({ use }) => use === 'left_over')
    const unknown = clusters.filter(({ use }) => use === 'unknown').length
    const rest = `${clusters.length - left.length - unknown} in use, ${unknown} that cannot be told`
    if (left.length === 0)
      return good(`no database outside of a data directory is left over; ${rest}`)
    const bytes = left.reduce((sum, one) => sum + one.bytes, 0)
    return look(
      `${left.length} databases of data directories that are gone are left over, with ${bytesWords(bytes)}; ${rest}`,
      'see that none of these directories was moved, or is merely not mounted; then `keyway doctor --remove-clusters`',
    )
  },
  set_aside: async ({ dataDir }) => {
    const { cluster } = homeOf(dataDir)
    const found = (await entriesOf(path.dirname(cluster))).filter(({ name }) =>
      name.startsWith(`${path.basename(cluster)}.before-`),
    )
    if (found.length === 0) return good('no database was moved aside by a restore')
    const folders = found.map(({ name }) => path.join(path.dirname(cluster), name))
    return look(
      `${found.length} databases that a restore moved aside are kept: ${await sized(folders)}`,
      'remove them (`rm -r`) once you do not want to go back to them',
    )
  },
  programs: async ({ dataDir }) => {
    const version = programsVersion()
    if (version === null) return good('no PostgreSQL comes with Keyway for this platform')
    const current = `postgresql-${version}`
    const homes = homeOf(dataDir).programs
    const found = await Promise.all(
      homes.map(async (folder) =>
        (await entriesOf(folder))
          .filter(({ name }) => name.startsWith('postgresql-') && name !== current)
          .map(({ name }) => path.join(folder, name)),
      ),
    )
    const folders = found.flat()
    if (folders.length === 0) return good('no programs of another PostgreSQL are left over')
    return look(
      `programs of another PostgreSQL than this version’s: ${await sized(folders)}`,
      'remove them (`rm -r`) once no host of another version runs here',
    )
  },
  sockets: async () => {
    const found: string[] = []
    for (const { name } of await entriesOf(tmpdir())) {
      if (!/^keyway-[0-9a-f]{16}$/.test(name)) continue
      const lock = path.join(tmpdir(), name, '.s.PGSQL.5432.lock')
      const [pid = '', cluster = ''] = (await readFile(lock, 'utf8').catch(() => '')).split('\n')
      if (/^[0-9]+$/.test(pid) && !(await runsOn(Number(pid), cluster)))
        found.push(path.join(tmpdir(), name))
    }
    if (found.length === 0) return good('no server has left its socket behind')
    return look(
      `sockets of database servers that do not run: ${found.slice(0, MOST_NAMED).join(', ')}${found.length > MOST_NAMED ? `, and ${found.length - MOST_NAMED} more` : ''}`,
      'nothing, where their host starts again: it takes its own; else remove them (`rm -r`)',
    )
  },
  unfinished: async ({ dataDir }) => {
    const found: string[] = []
    for (const [folder, pattern] of UNFINISHED)
      for (const { name } of await entriesOf(path.join(dataDir, folder))) {
        const file = path.join(dataDir, folder, name)
        const { mtimeMs = Date.now() } = (await stat(file).catch(() => null)) ?? {}
        if (pattern.test(name) && Date.now() - mtimeMs > MOMENT_MS) found.push(file)
      }
    if (found.length === 0) return good('no process has left files behind in the data directory')
    return look(
      `files of processes that ended in the middle of their work: ${await sized(found)}`,
      'remove them (`rm -r`); nothing needs them',
    )
  },
  bundles: async ({ dataDir }) => {
    const folders = ['connectors', path.join('installed', 'connectors')]
    let [count, bytes] = [0, 0]
    for (const folder of folders) {
      count += (await entriesOf(path.join(dataDir, folder))).length
      bytes += (await sizeOf(path.join(dataDir, folder))).bytes
    }
    const what = `${count} compiled connectors, one for each content and version of Keyway, have ${bytesWords(bytes)}`
    if (bytes < MANY_BYTES) return good(what)
    return look(
      what,
      `stop the host and remove ${path.join(dataDir, 'installed', 'connectors')}: what is installed is compiled again at the start`,
    )
  },
}

/** Folder of the data directory -> names of what is there for a moment only. */
const UNFINISHED: readonly (readonly [string, RegExp])[] = [
  ['', /^(writable-\d+|last-good\.json\.\d+|last-backup\.\d+|database-made\.new)$/],
  ['installed', /^(generation\.json\.[0-9a-f-]{36}|last-good\.json\.\d+)$/],
  ['connectors', /\.(tmp|old)$/],
  [path.join('installed', 'connectors'), /\.(tmp|old)$/],
  ['run', /^compile-/],
  [path.join('run', 'uploads'), /\.tgz$/],
]

/** Paths, each with its size, in words. */
async function sized(paths: readonly string[]): Promise<string> {
  const named = await Promise.all(
    paths.slice(0, MOST_NAMED).map(async (one) => {
      const found = await stat(one).catch(() => null)
      const bytes = found?.isDirectory() ? (await sizeOf(one)).bytes : (found?.size ?? 0)
      return `${one} (${bytesWords(bytes)})`
    }),
  )
  const more = paths.length - named.length
  return `${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

/** What the disk tells, check by check. */
export async function examineDisk(place: Place): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  for (const [check, examine] of Object.entries(CHECKS) as [DoctorCheck, typeof CHECKS.disk][]) {
    if (!examine) continue
    const found = await examine(place).catch((error: Error) =>
      look(
        `could not be looked at: ${error.message}`,
        'run this as the user who runs the host, with its KEYWAY_DATA_DIR',
      ),
    )
    findings.push({ check, ...found })
  }
  return findings
}
