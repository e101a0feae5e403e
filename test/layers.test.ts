/** Imports go one way: this test enforces the table of layers.ts, which documents them. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { circlesOf } from './circles.ts'
import { MAY_IMPORT } from './layers.ts'

const ROOT = path.join(import.meta.dirname, '..')
const RUNTIME = path.join(ROOT, 'runtime')

/** Packages that a folder may import; a folder that is missing may import any. */
const PACKAGES: Record<string, readonly string[]> = {
  contract: ['valibot', 're2js'],
  protocol: ['valibot', 'node:stream'],
  bounded: [],
  sdk: [],
  'worker/guest': [],
}

/** Files of core that read HTTP answers of other systems. */
const HTTP_CLIENTS = ['core/webhooks/parse-response.ts']

const codeIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.m?ts$/.test(file) && !file.endsWith('.d.ts'))
    .map((file) => ({ file, text: readFileSync(path.join(folder, file), 'utf8') }))

const files = codeIn(RUNTIME)

/** The folder of a file, or the name of a top-level file. */
const rowOf = (file: string): string =>
  file.includes(path.sep) ? path.dirname(file).split(path.sep).join('/') : file

/** Static and dynamic imports of a file; with `values`, without imports that type stripping removes. */
const importsOf = (text: string, values = false): string[] =>
  [
    ...text.matchAll(
      /^(?:import|export)\b[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bawait import\('([^']+)'\)/gm,
    ),
  ]
    .filter(([statement]) => !values || !/^(import|export) type\b/.test(statement))
    .map((match) => (match[1] ?? match[2] ?? match[3]) as string)

/** The files that a file imports, including imports of types. */
const importedBy = (file: string, text: string): string[] =>
  importsOf(text)
    .filter((target) => target.startsWith('.'))
    .map((target) => path.join(path.dirname(file), target))

const isBelow = (row: string, folder: string): boolean =>
  row === folder || row.startsWith(`${folder}/`)

/** Folder -> the folders that its files import, each named by the first parts of its path. */
function foldersAt(depth: number): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  const folderOf = (file: string) => rowOf(file).split('/').slice(0, depth).join('/')
  for (const { file, text } of files) {
    const from = folderOf(file)
    const known = graph.get(from) ?? new Set()
    for (const target of importedBy(file, text)) known.add(folderOf(target))
    known.delete(from)
    graph.set(from, known)
  }
  return graph
}

describe('the layers', () => {
  it('have a row for every folder', () => {
    expect([...new Set(files.map(({ file }) => rowOf(file)))].sort()).toEqual(
      Object.keys(MAY_IMPORT).sort(),
    )
  })

  it.each(files)('$file imports only what its layer may', ({ file, text }) => {
    const own = rowOf(file)
    const allowed = [own, ...(MAY_IMPORT[own] ?? [])]
    const foreign = importedBy(file, text).filter(
      (target) =>
        rowOf(target) !== own && !allowed.slice(1).some((one) => isBelow(rowOf(target), one)),
    )
    expect(foreign).toEqual([])
  })

  it('have no circle of files, types included', () => {
    const graph = new Map(files.map(({ file, text }) => [file, importedBy(file, text)]))
    expect(circlesOf(graph)).toEqual([])
  })

  it('have no circle of files in a plugin', () => {
    const plugins = codeIn(path.join(ROOT, 'plugins'))
    const graph = new Map(plugins.map(({ file, text }) => [file, importedBy(file, text)]))
    expect(circlesOf(graph)).toEqual([])
  })

  it.each([1, 2, 3])(
    'have no circle of folders, named by the first %i parts of their path',
    (depth) => {
      expect(circlesOf(foldersAt(depth))).toEqual([])
    },
  )

  it('keep the contract, the protocol, the SDK and the guest free of foreign packages', () => {
    const foreign = Object.entries(PACKAGES).flatMap(([folder, allowed]) =>
      files
        .filter(({ file }) => isBelow(rowOf(file), folder))
        .flatMap(({ file, text }) =>
          importsOf(text, true)
            .filter((target) => !target.startsWith('.') && !allowed.includes(target))
            .map((target) => `${file}: ${target}`),
        ),
    )
    expect(foreign).toEqual([])
  })

  it('have no HTTP statuses and response headers in the core, because the edge maps its refusals', () => {
    const http =
      /(?:status\b|@throws)[^\n]*\b[1-5]\d\d\b|Error\(\s*\d|'(?:retry-after|www-authenticate)'/gi
    const found = files
      .filter(({ file }) => isBelow(rowOf(file), 'core') && !HTTP_CLIENTS.includes(file))
      .flatMap(({ file, text }) => [...text.matchAll(http)].map(([words]) => `${file}: ${words}`))
    expect(found).toEqual([])
  })

  it('have no file over 400 lines', () => {
    const long = files.filter(({ text }) => text.split('\n').length > 401).map(({ file }) => file)
    expect(long).toEqual([])
  })
})
