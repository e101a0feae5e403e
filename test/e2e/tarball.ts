/** Clones this repository, packs it as `npm pack` does, and installs the tarball into a folder as an author would. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { cp, mkdir, readlink, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ROOT } from './command.ts'

/** A tarball, and the paths of its files. */
export type Tarball = { file: string; paths: string[] }

/** The members of an npm lock file that are used here. */
type Lock = { packages: Record<string, { dev?: boolean } & Record<string, unknown>> }

const run = (file: string, args: string[], cwd: string): string =>
  execFileSync(file, args, {
    cwd,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: `${path.join(ROOT, 'node_modules', '.bin')}${path.delimiter}${process.env['PATH']}`,
    },
    // Warnings of npm are only shown if it fails.
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** Excluded from a clone; only used without git. */
const NOT_CLONED = ['.git', 'node_modules', 'dist', 'data']

/**
 * The paths of a clone, including uncommitted changes. An unpacked archive, which has no `.git`, is taken
 * whole.
 */
function clonedPaths(): string[] {
  if (!existsSync(path.join(ROOT, '.git')))
    return readdirSync(ROOT).filter((name) => !NOT_CLONED.includes(name))
  const listed = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], ROOT)
  // The list includes files that were deleted and not yet committed.
  return listed.split('\0').filter((name) => name !== '' && existsSync(path.join(ROOT, name)))
}

/**
 * Does what `git clone` and `npm ci` would: copies the files of the repository, and links its dependencies.
 *
 * @returns the folder of the clone
 */
export async function clone(folder: string): Promise<string> {
  const cloned = path.join(folder, 'clone')
  for (const name of clonedPaths())
    await cp(path.join(ROOT, name), path.join(cloned, name), {
      recursive: statSync(path.join(ROOT, name)).isDirectory(),
      verbatimSymlinks: true,
    })
  await symlink(path.join(ROOT, 'node_modules'), path.join(cloned, 'node_modules'))
  return cloned
}

/** Builds and packs a clone; the tarball is written to the folder. */
export function pack(cloned: string, folder: string): Tarball {
  // Does what `prepack` does without type checks, which are a separate step of `npm test`.
  run(process.execPath, [path.join('scripts', 'build.ts'), '--noCheck'], cloned)
  const told = run(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', folder],
    cloned,
  )
  // A list, or in some versions of npm an object by name.
  const [packed] = Object.values(JSON.parse(told)) as [
    { filename: string; files: { path: string }[] },
  ]
  return {
    file: path.join(folder, packed.filename),
    paths: packed.files.map((one) => one.path),
  }
}

/**
 * Copies packages as npm has unpacked them for this repository, with a lock file, so that npm treats them as
 * installed. Unpacking them again would take a quarter of a minute of processor time.
 */
async function copyInstalled(wanted: Lock['packages'], folder: string): Promise<void> {
  const packages = Object.fromEntries(
    Object.entries(wanted).filter(([name]) => existsSync(path.join(ROOT, name, 'package.json'))),
  )
  // Nested packages are copied with the packages that contain them.
  for (const name of Object.keys(packages).filter((one) => !/node_modules.*node_modules/.test(one)))
    await cp(path.join(ROOT, name), path.join(folder, name), {
      recursive: true,
      verbatimSymlinks: true,
    })
  const programs = path.join('node_modules', '.bin')
  await mkdir(path.join(folder, programs))
  for (const name of readdirSync(path.join(ROOT, programs))) {
    const target = await readlink(path.join(ROOT, programs, name))
    if (existsSync(path.join(folder, programs, target)))
      await symlink(target, path.join(folder, programs, name))
  }
  // It must be newer than all packages in it, or npm scans all of them.
  const told = { name: 'author', lockfileVersion: 3, requires: true, packages }
  const noted = path.join(folder, 'node_modules', '.package-lock.json')
  await writeFile(noted, JSON.stringify(told))
}

/**
 * Installs the tarball into an empty folder, with the dependencies in the versions of this repository, so
 * that npm contacts no registry.
 */
export async function install({ file }: Tarball, folder: string): Promise<void> {
  const { packages } = JSON.parse(
    readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'),
  ) as Lock
  const { dependencies, optionalDependencies, bin, version } = packages[''] ?? {}
  const own = {
    name: 'author',
    type: 'module',
    private: true,
    dependencies: { keyway: `file:${file}` },
  }
  const lock = {
    name: 'author',
    lockfileVersion: 3,
    requires: true,
    packages: {
      ...Object.fromEntries(
        Object.entries(packages).filter(([name, { dev }]) => name !== '' && !dev),
      ),
      '': own,
      'node_modules/keyway': {
        version,
        resolved: `file:${file}`,
        dependencies,
        optionalDependencies,
        bin,
      },
    },
  }
  await writeFile(path.join(folder, 'package.json'), JSON.stringify(own))
  await writeFile(path.join(folder, 'package-lock.json'), JSON.stringify(lock))
  const { '': _, 'node_modules/keyway': _keyway, ...others } = lock.packages
  await copyInstalled(others, folder)
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  run('npm', ['install', '--ignore-scripts', ...quiet], folder)
}
