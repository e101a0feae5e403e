/**
 * Builds dist/ from runtime/ for installed packages, because Node strips no types below node_modules. Folders
 * and names stay the same, so that a file found next to a source is also found next to its built file. `npm
 * pack` runs it (`prepack`). The checkout runs its sources and needs no build. Pass `--noCheck` if the types
 * have been checked already.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundle } from './bundle.ts'

const ROOT = path.join(import.meta.dirname, '..')
const DIST = path.join(ROOT, 'dist')

/** Files that runtime/ reads in addition to its code. */
const READ_BESIDE = ['database/migrations', 'connectors/registry/built-in.json'] as const

/** Modules that authors import. Only these have declarations in the package (tsconfig.declarations.json). */
const PUBLIC = ['sdk/sdk', 'testing/testing'] as const

/** Runs the compiler. Ends this process if it fails. */
function compile(...args: string[]): void {
  const { status } = spawnSync('tsc', args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

rmSync(DIST, { recursive: true, force: true })
compile('-p', 'scripts/tsconfig.build.json', ...process.argv.slice(2))
// `--noCheck`, because the previous line has checked the types. Declarations of the whole runtime would take
// six times as long as the rest.
compile('-p', 'scripts/tsconfig.declarations.json', '--noCheck')
for (const file of READ_BESIDE)
  cpSync(path.join(ROOT, 'runtime', file), path.join(DIST, file), {
    recursive: true,
    // Only the tool that writes migrations reads the snapshots.
    filter: (source) => !source.endsWith('_snapshot.json'),
  })
/** Splits a text into its comments and the code between them. */
const COMMENT = /(\/\*[\s\S]*?\*\/)/

/**
 * Removes the declarations that no public one refers to, and replaces the names of sources by those of built
 * files.
 */
function keepDeclarations(): void {
  const kept = new Set<string>()
  const keep = (file: string): void => {
    if (kept.has(file)) return
    kept.add(file)
    const text = readFileSync(file, 'utf8')
      .split(COMMENT)
      .map((part) =>
        // Imports in an example are for the author's files.
        part.startsWith('/*')
          ? part
          : part.replaceAll(/(['"])(\.{1,2}\/[^'"]+)\.ts\1/g, '$1$2.js$1'),
      )
    writeFileSync(file, text.join(''))
    const code = text.filter((part) => !part.startsWith('/*')).join('')
    for (const [, , target = ''] of code.matchAll(/(['"])(\.{1,2}\/[^'"]+)\.js\1/g))
      keep(path.join(path.dirname(file), `${target}.d.ts`))
  }
  for (const name of PUBLIC) keep(path.join(DIST, `${name}.d.ts`))
  for (const name of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(DIST, name)
    if (name.endsWith('.d.ts') && !kept.has(file)) rmSync(file)
  }
}

keepDeclarations()
await bundle(path.join(DIST, 'cli', 'main.js'), path.join(DIST, 'command'))
