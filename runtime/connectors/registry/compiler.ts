/**
 * The compiler process: bundles one connector's sources to one script and exits. It is started confined by
 * runtime/connectors/registry/compile.ts, because sources come from third parties.
 *
 * Arguments: the folder to bundle, the runtime's folder. Standard output: JSON, `Compiled`.
 */
import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import path from 'node:path'
import { build, type Loader, type Message, type Plugin } from 'esbuild'
import { membersOf } from '../../contract/schema/record.ts'

/** The bundle and its source map; null if the map is too large. */
export type Compiled =
  | { ok: true; code: string; map: string | null }
  | { ok: false; findings: string[] }

const LOADERS: Record<string, Loader> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.json': 'json',
}

/** Maximum size of a bundle, in bytes. */
const MAX_CODE_BYTES = 8 * 1024 * 1024

/** Maximum length of a source map in characters. The host parses it when the connector throws. */
const MAX_MAP_LENGTH = 1024 * 1024

const [folderArgument = '', runtimeArgument = ''] = process.argv.slice(2)
const folder = realpathSync(folderArgument)
const runtime = realpathSync(runtimeArgument)
const sdk = path.join(runtime, 'sdk')
/**
 * The SDK as one file, which ships next to a bundled command (scripts/bundle.ts). Reading its sources takes
 * half of a compilation.
 */
declare const BUILT_SDK: string | undefined

/** Otherwise its source, with the extension of this file. */
const SDK_ENTRY =
  typeof BUILT_SDK === 'undefined'
    ? path.join(sdk, `sdk${path.extname(import.meta.filename)}`)
    : realpathSync(BUILT_SDK)

/** Restricts the bundler's access to files: everything it resolves and loads passes here. */
const walls: Plugin = {
  name: 'keyway-walls',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /.*/ }, async (args) => {
      const { path: asked, pluginData, kind, importer, resolveDir, namespace } = args
      // Files of the connector may import only from its folder, and files of the SDK only from the SDK's
      // sources.
      const roots = inside(importer, [folder]) ? [folder] : RUNTIME_ROOTS
      if (kind === 'entry-point' || pluginData === 'resolved') return undefined
      if (asked === 'keyway/sdk') return { path: SDK_ENTRY }
      if (asked === 'keyway/testing')
        return refuse('keyway/testing is for tests, it is not there in the sandbox')
      if (asked.startsWith('node:') || builtinModules.includes(asked)) {
        return refuse(
          `${asked} is not there in the sandbox; use ctx and the sandbox's standard library`,
        )
      }
      if (/^(\.{0,2}\/|\.{1,2}$)/.test(asked) && !inside(path.resolve(resolveDir, asked), roots))
        return refuse(`${asked} is outside the connector's folder`)
      const found = await resolve(asked, {
        kind,
        importer,
        resolveDir,
        namespace,
        pluginData: 'resolved',
      })
      if (found.errors.length > 0) return refuse(`cannot find ${asked}`)
      if (found.external) return refuse(`${asked} cannot be left out of the bundle`)
      if (!allowed(found.path, roots)) return refuse(`${asked} is outside the connector's folder`)
      return { path: realpathSync(found.path) }
    })
    onLoad({ filter: /.*/ }, async ({ path: file }) => {
      // Not resolved above: a match of a glob pattern. Its name must not be revealed to the connector.
      if (file !== SDK_ENTRY && !allowed(file, [folder, ...RUNTIME_ROOTS]))
        return refuse("an import pattern leads outside the connector's folder")
      const loader = LOADERS[path.extname(file)]
      if (!loader) return refuse(`${path.basename(file)}: only ts, js and json can be imported`)
      return { contents: ownLines(await readFile(file)), loader, resolveDir: path.dirname(file) }
    })
  },
}

/**
 * Removes comments that name a source map, which the bundler would read past these restrictions. They are
 * escaped, because in a string or a name an escape means the same.
 */
function ownLines(content: Buffer): Buffer | string {
  if (!content.includes('sourceMappingURL')) return content
  return content.toString('utf8').replaceAll('sourceMappingURL', 'sourceMapping\\u0055RL')
}

/** The SDK, and the contract it is built from. */
const RUNTIME_ROOTS: readonly string[] = [sdk, path.join(runtime, 'contract')]

function allowed(file: string, roots: readonly string[]): boolean {
  try {
    return inside(realpathSync(file), roots)
  } catch {
    // Not a file: a data URL, or deleted by now.
    return false
  }
}

function inside(file: string, roots: readonly string[]): boolean {
  return roots.some((root) => file.startsWith(root + path.sep))
}

function refuse(text: string) {
  return { errors: [{ text }] }
}

function finding({ text, location }: Message): string {
  if (!location) return text
  const file = path.relative(folder, path.resolve(location.file))
  return `${file.startsWith('..') ? path.basename(location.file) : file}:${location.line}:${location.column + 1}: ${text}`
}

/**
 * Returns the source map with only the names of the folder's own files. Other names reveal where the runtime
 * is installed.
 */
function ownMap(text: string): string | null {
  if (text.length > MAX_MAP_LENGTH) return null
  const { version, sources, mappings }: { version: number; sources: string[]; mappings: string } =
    JSON.parse(text)
  const own = sources.map((name) =>
    inside(path.resolve(folder, name), [folder])
      ? path.relative(folder, path.resolve(folder, name))
      : '',
  )
  return JSON.stringify({ version, sources: own, names: [], mappings })
}

async function compile(): Promise<Compiled> {
  try {
    const { outputFiles } = await build({
      entryPoints: [path.join(folder, 'connector.ts')],
      absWorkingDir: folder,
      bundle: true,
      write: false,
      // Never written. The names in the map are relative to it.
      outfile: path.join(folder, 'code.js'),
      sourcemap: 'external',
      sourcesContent: false,
      format: 'iife',
      globalName: 'globalThis.__connector',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['import', 'default'],
      resolveExtensions: ['.ts', '.mts', '.js', '.mjs', '.cjs', '.json'],
      target: 'esnext',
      charset: 'utf8',
      legalComments: 'none',
      // Without comments, since those with file names reveal where the runtime is installed. Names stay, and
      // lines are short enough for the position in an error message to be useful.
      minifyWhitespace: true,
      lineLimit: 120,
      // Strict, so that the caller of a function cannot be reached from it.
      banner: { js: "'use strict';" },
      logLevel: 'silent',
      define: { 'process.env.NODE_ENV': '"production"' },
      // A tsconfig of the connector is neither searched for nor read.
      tsconfigRaw: {},
      plugins: [walls],
    })
    const textOf = (name: string) => outputFiles.find((one) => one.path.endsWith(name))?.text ?? ''
    const code = textOf('code.js')
    if (code.length > MAX_CODE_BYTES)
      return { ok: false, findings: [`the bundle has more than ${MAX_CODE_BYTES} bytes`] }
    return { ok: true, code, map: ownMap(textOf('code.js.map')) }
  } catch (error) {
    const { errors } = membersOf(error)
    if (!Array.isArray(errors)) throw error
    return { ok: false, findings: errors.slice(0, 10).map(finding) }
  }
}

// The bundler is a separate program. Extremely nested sources overflow its stack and end it.
process.on('uncaughtException', (error) => {
  if (!/service was stopped/.test(error.message)) throw error
  const text = 'the bundler gave up on connector.ts: its sources are nested too deeply or too large'
  process.stdout.write(JSON.stringify({ ok: false, findings: [text] } satisfies Compiled))
})

process.stdout.write(JSON.stringify(await compile()))
