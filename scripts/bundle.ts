/**
 * Bundles the hundreds of files of the command into one program: loading them one by one takes more than half
 * of the time of a start. The package holds it below dist/ (scripts/build.ts). The checkout makes it when a
 * source has changed (runtime/cli/checkout.mjs): `node scripts/bundle.ts FOLDER`.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { sourcesDigest } from '../runtime/connectors/registry/toolchain.ts'
import { buildWorker } from '../runtime/lanes/worker-bundle.ts'

const ROOT = path.join(import.meta.dirname, '..')

/** Keeps paths relative to a source valid after bundling. */
const placesFrom = (outdir: string): Plugin => ({
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\/(runtime|dist|test)\/.*\.[tj]s$/ }, async ({ path: file }) => {
      const to = (place: string) =>
        `resolvePath(import.meta.dirname, ${JSON.stringify(path.relative(outdir, place))})`
      const own: Record<string, string> = {
        dirname: to(path.dirname(file)),
        filename: to(file),
        url: `toFileURL(${to(file)}).href`,
        main: 'false',
      }
      const text = await readFile(file, 'utf8')
      const contents = text.replaceAll(
        /\bimport\.meta\.(dirname|filename|url|main)\b/g,
        (all, name) => own[name] ?? all,
      )
      return { contents, loader: file.endsWith('.ts') ? 'ts' : 'js' }
    })
  },
})

/** Imports for the paths above. `require` lets CommonJS packages load Node's modules. */
const PLACES = `import { resolve as resolvePath } from 'node:path'
import { pathToFileURL as toFileURL } from 'node:url'
import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)`

/** Files that the command finds next to it. */
const BESIDE = `const builtWorker = resolvePath(import.meta.dirname, 'worker.cjs')
const builtCompiler = resolvePath(import.meta.dirname, 'compiler.js')
const builtSdk = resolvePath(import.meta.dirname, 'sdk.js')
const builtVerifyHost = resolvePath(import.meta.dirname, 'verify-host.js')`

/**
 * Node's HTTP without WebSocket, `fetch` and HTTP/2. An import reads all exports of a module, which loads
 * these, at 90 ms of processor time in each command. With `require` they are read on use.
 */
const lightHttp: Plugin = {
  name: 'light http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http(s|2)?$/ }, ({ path: asked }) => ({
      path: asked,
      namespace: 'light',
    }))
    onLoad({ filter: /./, namespace: 'light' }, ({ path: asked }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(asked)})`,
    }))
  },
}

/** Packages of many files that become part of the program. Others are loaded from their installation. */
const BUNDLED = new RegExp(
  `^(${[
    ...['@hono/node-server', '@opentelemetry/api', '@valibot/to-json-schema', 'commander'],
    ...['cron-parser', 'csv-parse', 'drizzle-orm', 'hono', 'jose', 'luxon', 'pg', 'pg-boss'],
    ...['pg-copy-streams', 'pg-pool', 'pg-protocol', 'pg-types', 'prom-client', 're2js', 'semver'],
    ...['undici', 'valibot'],
  ].join('|')})(/|$)`,
)

/** Leaves packages external, except for those of BUNDLED. */
const packages: Plugin = {
  name: 'packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path: asked, kind }) =>
      kind === 'entry-point' || BUNDLED.test(asked) ? undefined : { path: asked, external: true },
    )
  },
}

/** Returns the options for a program in an existing folder, which is below node_modules like its packages. */
const programIn = async (outdir: string): Promise<BuildOptions> => ({
  outdir,
  entryNames: '[name]',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'esnext',
  tsconfigRaw: {},
  logLevel: 'warning',
  plugins: [placesFrom(await realpath(outdir)), lightHttp, packages],
})

/** Below node_modules no package.json of the checkout declares that these files are modules. */
const sayModules = (outdir: string): Promise<void> =>
  writeFile(path.join(outdir, 'package.json'), '{ "type": "module" }\n')

/**
 * Bundles a program of the tests with its imports into one file, in a folder below node_modules. Returns the
 * file.
 */
export async function bundleProgram(entry: string, outdir: string): Promise<string> {
  await mkdir(outdir, { recursive: true })
  await sayModules(outdir)
  const { outputFiles } = await build({
    ...(await programIn(outdir)),
    entryPoints: [entry],
    write: false,
    banner: { js: PLACES },
    // As for the tests themselves (test/vitest.config.ts).
    define: { BUILT_COMPILER: 'process.env.KEYWAY_TESTS_COMPILER' },
  })
  const file = path.join(outdir, `${path.basename(entry, path.extname(entry))}.js`)
  // Two runs may write it at the same time.
  const made = `${file}.${randomUUID()}`
  await writeFile(made, outputFiles.map(({ text }) => text).join(''))
  await rename(made, file)
  return file
}

/** Returns the program that bundles connectors. A host starts it for each of them. */
const compilerBeside = (entry: string): string =>
  path.join(path.dirname(entry), '..', 'connectors', 'registry', `compiler${path.extname(entry)}`)

/** Returns the host that `keyway verify` attacks, a process of its own. */
const verifyHostBeside = (entry: string): string =>
  path.join(path.dirname(entry), `verify-host${path.extname(entry)}`)

/**
 * Bundles the SDK, which becomes part of each connector, as one file. The compiler removes its unused parts
 * from a connector.
 */
async function bundleSdk(entry: string, outdir: string): Promise<void> {
  const ending = path.extname(entry)
  await build({
    entryPoints: [path.join(path.dirname(entry), '..', 'sdk', `sdk${ending}`)],
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'esnext',
    charset: 'utf8',
    legalComments: 'none',
    tsconfigRaw: {},
  })
}

/**
 * Writes `main.js`, `compiler.js`, `verify-host.js` and `sdk.js`, with their chunks, and the code of workers
 * to a new folder.
 *
 * @param entry first file of the command: runtime/cli/main.ts, or its built file
 */
export async function bundle(entry: string, outdir: string): Promise<void> {
  await rm(outdir, { recursive: true, force: true })
  await mkdir(outdir, { recursive: true })
  await build({
    ...(await programIn(outdir)),
    entryPoints: [entry, compilerBeside(entry), verifyHostBeside(entry)],
    splitting: true,
    banner: { js: `${PLACES}\n${BESIDE}` },
    define: {
      BUILT_WORKER: 'builtWorker',
      BUILT_COMPILER: 'builtCompiler',
      BUILT_SDK: 'builtSdk',
      BUILT_VERIFY_HOST: 'builtVerifyHost',
      BUILT_SOURCES: JSON.stringify(sourcesDigest(path.join(path.dirname(entry), '..'))),
    },
  })
  await bundleSdk(entry, outdir)
  await rename((await buildWorker(outdir)).file, path.join(outdir, 'worker.cjs'))
  await sayModules(outdir)
}

/** Exit code if a source cannot be read (runtime/cli/checkout.mjs). */
const WRONG_SOURCE = 3

if (import.meta.main) {
  const [folder = ''] = process.argv.slice(2)
  const made = `${folder}.${process.pid}`
  await bundle(path.join(ROOT, 'runtime', 'cli', 'main.ts'), made).catch(async (error) => {
    await rm(made, { recursive: true, force: true })
    // The bundler has reported the error and its source.
    if (error instanceof Error && 'errors' in error) process.exit(WRONG_SOURCE)
    throw error
  })
  // Two processes may write it at the same time. The first result is kept.
  await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }))
}
