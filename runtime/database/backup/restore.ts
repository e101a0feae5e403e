/**
 * Makes a data directory from a backup. It is made next to the existing one by a server of its own, and put
 * into place only after that server has shut down cleanly. Backups of the first format hold the files of a
 * server, which recovers them.
 */
import { spawn } from 'node:child_process'
import { chown, readdir } from 'node:fs/promises'
import path from 'node:path'
import { type Binaries, installBinaries, type Owner } from '../binaries.ts'
import { NAME } from '../embedded.ts'
import { lockDataDir } from '../host-lock.ts'
import { noteMade, openHome } from '../lost-database.ts'
import { clearPostmaster } from '../postmaster.ts'
import { dropUnpacking, finishRestore, makeUnpacking, placeRestored } from '../restored-place.ts'
import { type Home, isMade } from '../server-home.ts'
import {
  BackupError,
  type BackupKey,
  type BackupManifest,
  FORMAT_OF_FILES,
  machine,
} from './format.ts'
import { loadCluster } from './load.ts'
import { readBackup } from './read.ts'
import { END_SHORT_LIVED } from './short-lived.ts'
import { describeEntry } from './tables.ts'
import { unpackEntry } from './unpack.ts'

export type RestoreOptions = {
  dataDir: string
  file: string
  /** Moves an existing database aside. */
  force: boolean
  /** Only reads the whole backup and reports whether it is complete and fits. */
  dryRun?: boolean
  /** Secrets of the operator, the current one first. None if there is none yet. */
  keys: readonly BackupKey[]
  /** Returns the password for the host's connections. */
  password(): Promise<string>
  signal: AbortSignal
  tell(text: string): void
  onProgress(progress: RestoreProgress): void
}

/** Progress. A backup of tables is read twice, first to know that it is complete. */
type RestoreProgress = { step: 'read' | 'load'; bytes: number }

type RestoreResult = {
  manifest: BackupManifest
  completeUntil: string
  /** Uncompressed size of the backup's content. */
  bytes: number
  cluster: string
  /** New path of the previous database, or null. */
  before: string | null
  /** Ids of older secrets that are missing although they protect some of the data. */
  missingKeys: string[]
}

/**
 * Restores a backup. The existing database stays untouched until the backup is complete and recovered.
 *
 * @throws DataDirInUseError if a host runs; BackupError if the backup does not fit, or if a database exists
 */
export async function restore(options: RestoreOptions): Promise<RestoreResult> {
  const unlock = await lockDataDir(options.dataDir)
  try {
    return await restoreLocked(options)
  } finally {
    await unlock()
  }
}

/** Restores a backup for a caller that has locked the data directory. */
export async function restoreLocked(options: RestoreOptions): Promise<RestoreResult> {
  const { dataDir, file, force, keys, signal } = options
  const home = await openHome(dataDir, true)
  await finishRestore(home)
  if (!force && (await isMade(home))) {
    throw new BackupError(
      `there is a database in ${home.cluster} already; --force moves it aside and keeps it there`,
    )
  }
  const binaries = await installBinaries(home.programs, home.owner)
  const folder = await makeUnpacking(home)
  try {
    const whole = await readBackup({
      file,
      signal,
      accept: (manifest) => acceptable(manifest, file, binaries, keys),
      take: (entry, { format }) =>
        format === FORMAT_OF_FILES ? unpackEntry(entry, folder, file) : describeEntry(entry, file),
      onProgress: ({ bytes }) => options.onProgress({ step: 'read', bytes }),
    })
    signal.throwIfAborted()
    const { manifest, end, bytes } = whole
    const given = new Set(keys.map(({ id }) => id))
    const missingKeys = manifest.key_ids.filter((id) => !given.has(id))
    const result = { manifest, completeUntil: end.complete_until, bytes, missingKeys }
    if (options.dryRun) return { ...result, cluster: home.cluster, before: null }
    const password = await options.password()
    if (manifest.format === FORMAT_OF_FILES) {
      if (home.owner) await giveTo(folder, home.owner)
      options.tell('recovering the database')
      await recover(folder, home, binaries, password)
    } else {
      const onProgress = ({ bytes }: { bytes: number }) =>
        options.onProgress({ step: 'load', bytes })
      await loadCluster({ file, folder, home, binaries, password, signal, onProgress }, whole)
    }
    signal.throwIfAborted()
    // A server left by a killed host would continue in the folder that is moved.
    await clearPostmaster(home.cluster, options.tell)
    const before = await placeRestored(home, new Date())
    await noteMade(dataDir, home.cluster)
    return { ...result, cluster: home.cluster, before }
  } finally {
    await finishRestore(home)
    await dropUnpacking(home)
  }
}

/** Returns the key that must have sealed the backup. */
function acceptable(
  manifest: BackupManifest,
  file: string,
  { major }: Binaries,
  keys: readonly BackupKey[],
): BackupKey {
  const isOfFiles = manifest.format === FORMAT_OF_FILES
  if (isOfFiles && manifest.machine !== machine()) {
    throw new BackupError(
      `${file} was made on ${manifest.machine}, this is ${machine()}: the files of a database fit no other machine. Restore it on such a machine, and move the data on with pg_dump`,
    )
  }
  if (isOfFiles && manifest.postgresql !== major) {
    throw new BackupError(
      `${file} was made with PostgreSQL ${manifest.postgresql} by a version whose backups hold its files, and this version of Keyway brings ${major}: restore it with Keyway ${manifest.keyway}, and back up with a later version that brings PostgreSQL ${manifest.postgresql}`,
    )
  }
  if (manifest.postgresql > major) {
    throw new BackupError(
      `${file} was made with PostgreSQL ${manifest.postgresql}, this version of Keyway brings ${major}, which does not read what a later one writes: restore it with Keyway ${manifest.keyway} or later`,
    )
  }
  const [needed = ''] = manifest.key_ids
  const key = keys.find(({ id }) => id === needed)
  if (key) return key
  const given =
    keys.length === 0 ? 'none is there' : `given: ${keys.map(({ id }) => id).join(', ')}`
  throw new BackupError(
    `${file} needs the secret with the key id ${needed}; ${given}. Set KEYWAY_SECRET to that secret, or put it into the file \`secret\` of the data directory`,
  )
}

/** Makes the server's own user the owner of a folder with all its content. */
async function giveTo(folder: string, { uid, gid }: Owner): Promise<void> {
  await chown(folder, uid, gid)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chown(path.join(entry.parentPath, entry.name), uid, gid)
}

/**
 * Lets the server recover the copy, sets the password of this data directory, removes rows that must not
 * survive a restore, and shuts the server down. The server has no sockets, so that no other process can reach
 * it.
 */
async function recover(
  folder: string,
  home: Home,
  binaries: Binaries,
  password: string,
): Promise<void> {
  const quoted = password.replaceAll("'", "''")
  await askAlone(folder, home, binaries, 'postgres', `alter role ${NAME} password '${quoted}'`)
  await askAlone(folder, home, binaries, NAME, END_SHORT_LIVED)
}

/** Runs one statement, without a line break, in one of the server's databases. */
async function askAlone(
  folder: string,
  { owner }: Home,
  { bin }: Binaries,
  database: string,
  statement: string,
): Promise<void> {
  const child = spawn(
    path.join(bin, 'postgres'),
    ['--single', '-D', folder, '-c', 'log_min_error_statement=panic', database],
    { cwd: folder, env: {}, stdio: ['pipe', 'ignore', 'pipe'], ...(owner ?? {}) },
  )
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-64 * 1024)
  })
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(signal ?? `exit ${code}`))
  })
  // If the server ends before it reads, its own messages say more.
  child.stdin.on('error', () => {})
  child.stdin.end(`${statement}\n`)
  const how = await ended
  const fault = /^.*(ERROR|FATAL|PANIC):.*$/m.exec(said)
  if (how === 'exit 0' && !fault) return
  throw new BackupError(
    `the database in the backup cannot be recovered: ${fault?.[0] ?? how}. Nothing was changed`,
  )
}
