/**
 * Upgrades the embedded server to the major version of the package. The programs that made its tables, which
 * are still installed, copy them out. They are loaded into a new data directory. The old one is kept.
 */
import { randomBytes } from 'node:crypto'
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ifMissing } from '../../contract/errors/thrown.ts'
import { VERSION } from '../../version.ts'
import { installBinaries, programsVersion } from '../binaries.ts'
import { startServer } from '../embedded.ts'
import { clearPostmaster } from '../postmaster.ts'
import { type Home, homeOf, isMade, prepareHome } from '../server-home.ts'
import { backup } from './backup.ts'
import { restoreLocked } from './restore.ts'

type UpgradeOptions = {
  dataDir: string
  password(): Promise<string>
  tell(text: string): void
  signal: AbortSignal
}

/**
 * Upgrades the database. Does nothing if there is no database, if it is of this major version, or if the
 * programs that made it are missing; the start then says what to do. Call it with the data directory locked.
 * If it is killed at any line, the next start begins again.
 *
 * @throws BackupError, and errors of the file system, including a full disk
 */
export async function upgradeEmbedded({
  dataDir,
  password,
  tell,
  signal,
}: UpgradeOptions): Promise<void> {
  const own = Number.parseInt(programsVersion() ?? '', 10)
  const found = await majorOf(homeOf(dataDir))
  if (found === null || Number.isNaN(own) || found >= own) return
  const home = await prepareHome(dataDir)
  const bin = await programsOf(home, found)
  if (bin === null) return
  tell(`the database is of PostgreSQL ${found}; it is copied to one of PostgreSQL ${own} (once)`)
  await clearPostmaster(home.cluster, tell)
  const secret = await password()
  const socket = await mkdtemp(path.join(tmpdir(), 'keyway-upgrade-'))
  if (home.owner) await chown(socket, home.owner.uid, home.owner.gid)
  const file = path.join(path.dirname(home.cluster), 'upgrade.tar.gz')
  // The key lives only in this function. The seal proves that the data read is the data written.
  const key = { id: randomBytes(8).toString('hex'), sealKey: randomBytes(32) }
  const quiet = { tell: () => {}, onProgress: () => {} }
  try {
    const place = { ...home, socket }
    const older = { bin, major: found }
    const server = await startServer(place, older, { password: secret, tell, onLine: () => {} })
    try {
      const { connection } = server
      await backup({
        connection,
        file,
        force: true,
        keys: [key],
        version: VERSION,
        signal,
        ...quiet,
      })
    } finally {
      await server.stop()
    }
    await installBinaries(home.programs, home.owner)
    const { before } = await restoreLocked({
      ...{ dataDir, file, force: true, keys: [key], signal, ...quiet },
      password: async () => secret,
    })
    tell(
      `the database is of PostgreSQL ${own} now; the one of PostgreSQL ${found} is kept in ${before}: remove it once all is well`,
    )
  } finally {
    await rm(file, { force: true })
    await rm(socket, { recursive: true, force: true })
  }
}

/** Returns the major version of a data directory, or null if there is none. */
async function majorOf(home: Home): Promise<number | null> {
  if (!(await isMade(home))) return null
  const text = await readFile(path.join(home.cluster, 'PG_VERSION'), 'utf8').catch(ifMissing(''))
  return Number.parseInt(text, 10) || null
}

/** Name of a complete copy of programs. An incomplete one has another name (binaries.ts). */
const COPY = /^postgresql-(\d+)\.\d+\.\d+(?:-[a-z]+\.\d+)?$/

/** Returns the newest copied programs of a major version, or null if there are none. */
async function programsOf({ programs }: Home, major: number): Promise<string | null> {
  for (const folder of programs) {
    const names = await readdir(folder).catch(ifMissing<string[]>([]))
    const [newest] = names
      .filter((name) => COPY.exec(name)?.[1] === String(major))
      .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    if (newest !== undefined) return path.join(folder, newest, 'bin')
  }
  return null
}
