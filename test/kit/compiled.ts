/**
 * Bundles of connectors whose compilation is not under test, each made once per run of the tests: tests share
 * sources, and a compiler process takes longer than most of what they test.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type CompileOptions, compile } from '../../runtime/connectors/registry/compile.ts'
import type { Compiled } from '../../runtime/connectors/registry/compiler.ts'
import { digestOf, type Folder } from '../../runtime/connectors/registry/folder.ts'
import { TEMPLATE } from './template.ts'

const MANIFEST = 'connector.json'

/** Compiles a folder, or returns the earlier result for the same sources. */
export async function compileOnce(folder: Folder, options: CompileOptions): Promise<Compiled> {
  const home = process.env[TEMPLATE]
  if (home === undefined) return compile(folder, options)
  const file = path.join(home, 'bundles', `${digestOf(sourcesOf(folder))}.json`)
  // Written below, atomically.
  if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as Compiled
  const made = await compile(folder, options)
  // The machine may have caused a refusal, if the compilation took too long.
  if (!made.ok) return made
  const written = `${file}.${randomUUID()}`
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(written, JSON.stringify(made))
  await rename(written, file)
  return made
}

/**
 * Returns the compiled files. Tests change little but the manifest, which is only part of a bundle if a
 * source imports it.
 */
function sourcesOf({ files }: Folder): Map<string, Buffer> {
  const sources = new Map(files)
  sources.delete(MANIFEST)
  const isImported = [...sources.values()].some((source) => source.includes(MANIFEST))
  return isImported ? new Map(files) : sources
}
