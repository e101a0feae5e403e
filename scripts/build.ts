/**
 * Builds dist/ from runtime/: what an installed package runs, because Node strips no types below
 * node_modules. The same folders with the same names, so that what is found beside a source is found
 * beside its built file. `npm pack` runs it (`prepack`); the checkout runs its sources and needs none of it.
 * `--noCheck` where the types were checked already.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundle } from './bundle.ts'

const ROOT = path.join(import.meta.dirname, '..')
const DIST = path.join(ROOT, 'dist')

/** What runtime/ reads beside its code. */
const READ_BESIDE = ['database/migrations', 'connectors/registry/built-in.json'] as const

/** What authors import; only these have declarations in the package (tsconfig.declarations.json). */
const PUBLIC = ['sdk/sdk', 'testing/testing'] as const

/** Runs the compiler; ends with it where it fails. */
function compile(...args: string[]): void {
  const { status } = spawnSync('tsc', args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

rmSync(DIST, { recursive: true, force: true })
compile('-p', 'scripts/tsconfig.build.json', ...process.argv.slice(2))
// Of the whole runtime, which the line before has checked, they would take six times as long as all else.
compile('-p', 'scripts/tsconfig.declarations.json', '--noCheck')
for (const file of READ_BESIDE)
  cpSync(path.join(ROOT, 'runtime', file), path.join(DIST, file), {
    recursive: true,
    // Only the tool that writes migrations reads them.
    filter: (source) => !source.endsWith('_snapshot.json'),
  })
/** Splits a text into its comments and what is between them. */
const COMMENT = /(\/\*[\s\S]*?\*\/)/

/** Removes the declarations that no public one leads to, and names files in the others as they are called here. */
function keepDeclarations(): void {
  const kept = new Set<string>()
  const keep = (file: string): void => {
    if (kept.has(file)) return
    kept.add(file)
    const text = readFileSync(file, 'utf8')
      .split(COMMENT)
      .map((part) =>
        // What an example in a comment imports is the author's.
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
