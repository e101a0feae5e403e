/**
 * All generated files of the repository, in one table. `npm run docs` writes them. With `--check` it only
 * reports stale ones.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'
import { TEMPLATES } from '../runtime/cli/templates.ts'
import { readFolder } from '../runtime/connectors/registry/folder.ts'
import { connectorTypes, TYPES_FILE } from '../runtime/contract/connector/connector-types.ts'
import { Manifest } from '../runtime/contract/connector/manifest.ts'
import { rulesFile } from './alerts.ts'
import { attacksPage } from './attacks.ts'
import { filled } from './parts.ts'
import { picture } from './picture.ts'
import { trackedConnectors } from './tracked.ts'

const ROOT = path.join(import.meta.dirname, '..')

/** Connectors in the documentation that are not built in. */
const SHOWN = [
  ...Object.values(TEMPLATES).map(({ folder }) => path.join('plugin-template', folder)),
  'test/fixtures/readme',
].map((folder) => path.join(ROOT, folder))

type Generated = {
  /** Path relative to the repository. */
  file: string
  /** Makes the whole file from its current content. */
  make(current: string): string | Promise<string>
}

export const GENERATED: readonly Generated[] = [
  // First, because the digests of the built-in connectors cover these files.
  ...[...trackedConnectors(), ...SHOWN].map((folder) => ({
    file: path.join(path.relative(ROOT, folder), TYPES_FILE),
    make: () =>
      connectorTypes(
        v.parse(
          Manifest,
          JSON.parse(read(path.join(path.relative(ROOT, folder), 'connector.json'))),
        ),
      ),
  })),
  { file: 'runtime/connectors/registry/built-in.json', make: builtIn },
  { file: 'test/hostile/README.md', make: () => attacksPage() },
  { file: 'scripts/deploy/keyway.rules.yml', make: () => rulesFile() },
  { file: 'runtime/docs/picture.svg', make: () => picture('light') },
  { file: 'runtime/docs/picture-dark.svg', make: () => picture('dark') },
  ...['plugins/README.md', ...docsPages(), ...roomPages()].map((file) => ({
    file,
    make: (current: string) => filled(current, file),
  })),
]

/** Returns the files that would differ if they were written now. */
export async function staleFiles(): Promise<string[]> {
  const stale: string[] = []
  for (const { file, make } of GENERATED) {
    const current = read(file)
    if ((await make(current)) !== current) stale.push(file)
  }
  return stale
}

/**
 * Returns the digests of the connectors in plugins/, which make a connector built-in. Only files of the
 * repository count, because a person's own connector may be in the same folder.
 */
async function builtIn(): Promise<string> {
  const digests: Record<string, string> = {}
  for (const folder of trackedConnectors()) {
    const { files, digest } = await readFolder(folder)
    digests[JSON.parse(String(files.get('connector.json'))).id] = digest
  }
  return `${JSON.stringify(digests, null, 2)}\n`
}

/** Returns the Markdown pages below runtime/docs, in order. */
export function docsPages(): string[] {
  return readdirSync(path.join(ROOT, 'runtime/docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.posix.join('runtime/docs', name.split(path.sep).join('/')))
    .sort()
}

/** Returns the page of each folder of runtime/ that has code. */
export function roomPages(): string[] {
  return readdirSync(path.join(ROOT, 'runtime'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !['docs', 'spec'].includes(entry.name))
    .map(({ name }) => `runtime/${name}/README.md`)
    .sort()
}

/** Returns the pages of parts of folders, such as that of access requests in the core. */
export function partPages(): string[] {
  return readdirSync(path.join(ROOT, 'runtime'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(?!docs|spec)\w+\/.+\/README\.md$/.test(name.split(path.sep).join('/')))
    .map((name) => path.posix.join('runtime', name.split(path.sep).join('/')))
    .sort()
}

function read(file: string): string {
  const full = path.join(ROOT, file)
  return existsSync(full) ? readFileSync(full, 'utf8') : ''
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const stale = await staleFiles()
    if (stale.length > 0) {
      console.error(`stale: ${stale.join(', ')}; run npm run docs`)
      process.exitCode = 1
    }
  } else {
    for (const { file, make } of GENERATED)
      writeFileSync(path.join(ROOT, file), await make(read(file)))
  }
}
