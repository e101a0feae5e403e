/**
 * The command in one piece, built once for a run of the tests: loading its hundreds of sources one by one takes longer
 * than most of what it is asked for. The same sources run, and find what lies beside them where it does lie. Tests of
 * how the checkout itself starts name its own file.
 */
import { copyFile, mkdir, readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const ROOT = path.join(import.meta.dirname, '..', '..')
const LAUNCHER = path.join('runtime', 'cli', 'keyway.mjs')

/** Where the tests of a run find the folder. */
const VARIABLE = 'KEYWAY_TESTS_COMMAND'

/** Has each source know its own place, not that of the one piece. */
const places: Plugin = {
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\/runtime\/.*\.ts$/ }, async ({ path: file }) => {
      const own: Record<string, string | boolean> = {
        dirname: path.dirname(file),
        filename: file,
        url: pathToFileURL(file).href,
        main: false,
      }
      const text = await readFile(file, 'utf8')
      const contents = text.replaceAll(
        /\bimport\.meta\.(dirname|filename|url|main)\b/g,
        (_, name) => JSON.stringify(own[name]),
      )
      return { contents, loader: 'ts' }
    })
  },
}

/** Packages of many files that become part of the piece; the others are loaded as they lie. */
const BUNDLED = /^(@valibot|commander|drizzle-orm|hono|re2js|valibot)(\/|$)/

/** Leaves packages where they are, but for those of BUNDLED. */
const packages: Plugin = {
  name: 'packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path: asked, kind }) =>
      kind === 'entry-point' || BUNDLED.test(asked) ? undefined : { path: asked, external: true },
    )
  },
}

/** For the beginning of a run: builds it into a folder that is laid out like an installed package. */
export async function buildCommand(folder: string): Promise<void> {
  const home = path.join(folder, 'command')
  await build({
    entryPoints: [path.join(ROOT, 'runtime', 'cli', 'main.ts')],
    outdir: path.join(home, 'dist', 'cli'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    tsconfigRaw: {},
    plugins: [places, packages],
  })
  await mkdir(path.join(home, path.dirname(LAUNCHER)), { recursive: true })
  await copyFile(path.join(ROOT, LAUNCHER), path.join(home, LAUNCHER))
  await copyFile(path.join(ROOT, 'package.json'), path.join(home, 'package.json'))
  await symlink(path.join(ROOT, 'node_modules'), path.join(home, 'node_modules'))
  process.env[VARIABLE] = home
}

/** The launcher of the command: built, or the checkout's in a program that is no test. */
export const builtLauncher = (): string => path.join(process.env[VARIABLE] ?? ROOT, LAUNCHER)

/** The file that the launcher runs. */
export function builtMain(): string {
  const home = process.env[VARIABLE]
  return home === undefined
    ? path.join(ROOT, 'runtime', 'cli', 'main.ts')
    : path.join(home, 'dist', 'cli', 'main.js')
}
