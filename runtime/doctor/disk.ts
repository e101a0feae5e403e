/** Checks of the file system, which need no running host. Read only. */
import { readFile, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { DoctorCheck, DoctorFinding, OutsideCluster } from '../contract/endpoints/doctor.ts'
import { entriesOf as rowsOf } from '../contract/schema/keys.ts'
import { lastBackup } from '../database/backup/backup-record.ts'
import { programsVersion } from '../database/binaries.ts'
import { runsOn } from '../database/postmaster.ts'
import { homeOf, isMade } from '../database/server-home.ts'
import { actOn, type Examined, good, look } from './found.ts'
import { folderEntries, folderSize, formatBytes, formatSeconds } from './sizes.ts'

/** Fractions of free space below which the finding is `look` or `act`. */
const LOOK_FREE = 0.2
const ACT_FREE = 0.1
/** Maximum age of the last backup, in milliseconds. The alert rules (scripts/deploy) have the same value. */
const BACKUP_MS = 2 * 86_400_000
/** Temporary files older than this count as left over, in milliseconds. */
const TEMPORARY_MS = 86_400_000
/** Size of compiled connectors from which the finding is `look`, in bytes. */
const MANY_BYTES = 1_000_000_000
/** Maximum number of paths listed in a finding. */
const MAX_NAMED = 10

/** What to check. `isEmbedded`: the database is Keyway's own. */
type Place = { dataDir: string; isEmbedded: boolean; clusters: readonly OutsideCluster[] }

const CHECKS: Partial<Record<DoctorCheck, (place: Place) => Promise<Examined>>> = {
  disk: async ({ dataDir, isEmbedded }) => {
    const folders = new Set([
      dataDir,
      ...(isEmbedded && (await isMade(homeOf(dataDir))) ? [homeOf(dataDir).cluster] : []),
    ])
    const disks = await Promise.all(
      [...folders].map(async (folder) => {
        const { bavail, bsize, blocks } = await statfs(folder)
        const text = `${formatBytes(bavail * bsize)} of ${formatBytes(blocks * bsize)} are free at ${folder}`
        return { share: blocks === 0 ? 1 : bavail / blocks, text }
      }),
    )
    const what = disks.map(({ text }) => text).join('; ')
    const least = Math.min(...disks.map(({ share }) => share))
    const advice = 'free some space or move it to a larger disk: writes fail on a full disk'
    return least < ACT_FREE
      ? actOn(what, advice)
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
    const ago = formatSeconds(Math.max(0, Date.now() - sinceMs) / 1000)
    const what = note
      ? `the last backup was made ${ago} ago and has ${formatBytes(note.bytes)}`
      : `no backup has been made since the database was created ${ago} ago`
    const advice = 'run `keyway backup FILE` every day, and keep the files on another machine'
    if (Date.now() - sinceMs > BACKUP_MS) return actOn(what, advice)
    return note ? good(what) : look(what, advice)
  },
  clusters: async ({ clusters }) => {
    const left = clusters.filter(({ use }) => use === 'left_over')
    const unknown = clusters.filter(({ use }) => use === 'unknown').length
    const rest = `${clusters.length - left.length - unknown} in use, ${unknown} undetermined`
    if (left.length === 0) return good(`no database outside a data directory is left over; ${rest}`)
    const bytes = left.reduce((sum, one) => sum + one.bytes, 0)
    return look(
      `${left.length} databases whose data directory no longer exists are left over, with ${formatBytes(bytes)}; ${rest}`,
      'make sure that none of these directories was moved or is just not mounted; then run `keyway doctor --remove-clusters`',
    )
  },
  set_aside: async ({ dataDir }) => {
    const { cluster } = homeOf(dataDir)
    const found = (await folderEntries(path.dirname(cluster))).filter(({ name }) =>
      name.startsWith(`${path.basename(cluster)}.before-`),
    )
    if (found.length === 0) return good('no replaced database of a restore is left')
    const folders = found.map(({ name }) => path.join(path.dirname(cluster), name))
    return look(
      `${found.length} databases that a restore replaced are still stored: ${await sized(folders)}`,
      'remove them (`rm -r`) when you no longer need to return to them',
    )
  },
  programs: async ({ dataDir }) => {
    const version = programsVersion()
    if (version === null) return good('Keyway ships no PostgreSQL for this platform')
    const current = `postgresql-${version}`
    const homes = homeOf(dataDir).programs
    const found = await Promise.all(
      homes.map(async (folder) =>
        (await folderEntries(folder))
          .filter(({ name }) => name.startsWith('postgresql-') && name !== current)
          .map(({ name }) => path.join(folder, name)),
      ),
    )
    const folders = found.flat()
    if (folders.length === 0) return good('no binaries of another PostgreSQL version are left over')
    return look(
      `binaries of other PostgreSQL versions: ${await sized(folders)}`,
      'remove them (`rm -r`) when no host of another Keyway version runs on this machine',
    )
  },
  sockets: async () => {
    const found: string[] = []
    for (const { name } of await folderEntries(tmpdir())) {
      if (!/^keyway-[0-9a-f]{16}$/.test(name)) continue
      const lock = path.join(tmpdir(), name, '.s.PGSQL.5432.lock')
      const [pid = '', cluster = ''] = (await readFile(lock, 'utf8').catch(() => '')).split('\n')
      if (/^[0-9]+$/.test(pid) && !(await runsOn(Number(pid), cluster)))
        found.push(path.join(tmpdir(), name))
    }
    if (found.length === 0) return good('no stale database socket')
    return look(
      `sockets of database servers that are not running: ${found.slice(0, MAX_NAMED).join(', ')}${found.length > MAX_NAMED ? `, and ${found.length - MAX_NAMED} more` : ''}`,
      'a host that starts again reuses its own; remove the others (`rm -r`)',
    )
  },
  unfinished: async ({ dataDir }) => {
    const found: string[] = []
    for (const [folder, pattern] of TEMPORARY)
      for (const { name } of await folderEntries(path.join(dataDir, folder))) {
        const file = path.join(dataDir, folder, name)
        const { mtimeMs = Date.now() } = (await stat(file).catch(() => null)) ?? {}
        if (pattern.test(name) && Date.now() - mtimeMs > TEMPORARY_MS) found.push(file)
      }
    if (found.length === 0) return good('no stale temporary files in the data directory')
    return look(
      `temporary files of interrupted processes: ${await sized(found)}`,
      'remove them (`rm -r`); they are not used',
    )
  },
  bundles: async ({ dataDir }) => {
    const folders = ['connectors', path.join('installed', 'connectors')]
    let [count, bytes] = [0, 0]
    for (const folder of folders) {
      count += (await folderEntries(path.join(dataDir, folder))).length
      bytes += (await folderSize(path.join(dataDir, folder))).bytes
    }
    const what = `${count} compiled connectors, one per content and Keyway version, take ${formatBytes(bytes)}`
    if (bytes < MANY_BYTES) return good(what)
    return look(
      what,
      `stop the host and remove ${path.join(dataDir, 'installed', 'connectors')}: the next start compiles installed connectors again`,
    )
  },
}

/** Folder in the data directory -> name pattern of its temporary files. */
const TEMPORARY: readonly (readonly [string, RegExp])[] = [
  ['', /^(writable-\d+|last-good\.json\.\d+|last-backup\.\d+|database-made\.new)$/],
  ['installed', /^(generation\.json\.[0-9a-f-]{36}|last-good\.json\.\d+)$/],
  ['connectors', /\.(tmp|old)$/],
  [path.join('installed', 'connectors'), /\.(tmp|old)$/],
  ['run', /^compile-/],
  [path.join('run', 'uploads'), /\.tgz$/],
]

/** Returns a list of paths with their sizes, as text. */
async function sized(paths: readonly string[]): Promise<string> {
  const named = await Promise.all(
    paths.slice(0, MAX_NAMED).map(async (one) => {
      const found = await stat(one).catch(() => null)
      const bytes = found?.isDirectory() ? (await folderSize(one)).bytes : (found?.size ?? 0)
      return `${one} (${formatBytes(bytes)})`
    }),
  )
  const more = paths.length - named.length
  return `${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

/** Runs each check separately. A check that fails becomes a finding. */
export async function examineDisk(place: Place): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  for (const [check, examine] of rowsOf(CHECKS)) {
    if (!examine) continue
    const found = await examine(place).catch((error: Error) =>
      look(
        `could not be checked: ${error.message}`,
        'run this as the user that runs the host, with its KEYWAY_DATA_DIR',
      ),
    )
    findings.push({ check, ...found })
  }
  return findings
}
