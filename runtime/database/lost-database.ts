/**
 * Detects that the database of a data directory is lost: the directory records one, or a restore in progress,
 * but there is none. Replacing it with an empty one would look like data loss, so that happens only on
 * request.
 */
import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { dropUnpacking, finishRestore, wasCutOff } from './restored-place.ts'
import { type Home, homeOf, isMade, isRoot, ownerMismatchOf, prepareHome } from './server-home.ts'
import { baseOf, digest, forgetPlace, INSIDE, PASSWORD_FILE, placeOf } from './server-place.ts'

/** File in the data directory with the path of the cluster that was created for it. */
const MADE_FILE = 'database-made'

/**
 * Thrown if the recorded database of a data directory is missing. The message says where it was and what to
 * do.
 */
class LostDatabaseError extends Error {}

/**
 * Returns the folders of the server that belongs to a data directory.
 *
 * @param replaceMissing Whether an empty database may replace a missing one.
 * @throws LostDatabaseError
 */
export async function openHome(dataDir: string, replaceMissing: boolean): Promise<Home> {
  const lost = await lostFrom(dataDir)
  if (lost !== null) {
    if (!replaceMissing) throw new LostDatabaseError(wordsOf(dataDir, lost))
    // First, so that the record survives if the process ends here.
    await noteMade(dataDir, lost)
    await forgetPlace(dataDir)
  } else if (await wasCutOff(homeOf(dataDir))) {
    if (!replaceMissing) throw new LostDatabaseError(cutOffWords(dataDir))
    await dropUnpacking(homeOf(dataDir))
  }
  return prepareHome(dataDir)
}

/** Records the cluster of a data directory. */
export async function noteMade(dataDir: string, cluster: string): Promise<void> {
  const file = path.join(dataDir, MADE_FILE)
  if ((await recordedCluster(dataDir)) === cluster) return
  await writeFile(`${file}.new`, `${cluster}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** Returns the recorded cluster of a data directory, or null if there is none. */
export const recordedCluster = async (dataDir: string): Promise<string | null> =>
  (await readFile(path.join(dataDir, MADE_FILE), 'utf8').catch(() => '')).trim() || null

/** Returns the former path of a recorded database that is missing, or null if none is missing. */
async function lostFrom(dataDir: string): Promise<string | null> {
  const home = homeOf(dataDir)
  const isThere = existsSync(path.dirname(home.cluster))
  // A restore that was killed may have left a complete database next to it.
  if (isThere && ownerMismatchOf(home) === null) await finishRestore(home)
  if (await isMade(home)) return null
  const noted = await recordedCluster(dataDir)
  if (noted !== null) return noted
  const place = placeOf(dataDir)
  // Earlier versions recorded nothing. Their traces tell: the place is created before it is named, and the
  // password after both.
  if (place !== null && place !== INSIDE && !isRoot()) return clusterOf(dataDir, place)
  if (isThere) return null
  if (place !== null) return home.cluster
  if (!existsSync(path.join(dataDir, PASSWORD_FILE))) return null
  return isRoot() ? clusterOf(dataDir, digest(dataDir)) : home.cluster
}

const clusterOf = (dataDir: string, place: string): string =>
  path.join(baseOf(dataDir, place), 'cluster')

function wordsOf(dataDir: string, cluster: string): string {
  const isBeside = !cluster.startsWith(`${dataDir}${path.sep}`)
  const why = isBeside
    ? ' That is outside of the data directory: another machine or container does not have it, nor another user than root.'
    : ''
  return `the database of ${dataDir} is missing: it was in ${cluster}.${why} Put that folder back (or set DATABASE_URL, if this host had it), or run \`keyway restore FILE\` with a backup, or begin with an empty one by \`keyway start --new-database\``
}

const cutOffWords = (dataDir: string): string =>
  `a restore into ${dataDir} was cut off before it was whole: run \`keyway restore FILE\` again, or begin with an empty database by \`keyway start --new-database\``
