/** Imports go one way. This table is the documentation of the layers, and this test holds it. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const RUNTIME = path.join(import.meta.dirname, '..', 'runtime')

/** Folder or top-level file of runtime/ -> what it may import besides itself. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  contract: [],
  sdk: ['contract'],
  sample: [],
  worker: ['contract'],
  lanes: ['contract'],
  egress: ['contract'],
  oauth: ['contract', 'egress'],
  packages: ['contract'],
  registry: ['contract'],
  lifecycle: ['contract', 'core', 'database', 'packages', 'registry', 'seal.ts'],
  database: ['contract', 'version.ts'],
  core: ['contract', 'database', 'seal.ts', 'secret.ts'],
  doctor: ['contract', 'core', 'database', 'lifecycle'],
  invoke: ['contract', 'seal.ts'],
  'secret.ts': [],
  'seal.ts': ['secret.ts'],
  'log-repeats.ts': ['contract'],
  'log.ts': ['contract', 'log-repeats.ts'],
  'version.ts': [],
  'writable.ts': [],
  'keys.ts': ['secret.ts'],
  'config.ts': [],
  'data-dir.ts': ['config.ts'],
  http: [
    'contract',
    'core',
    'database',
    'doctor',
    'invoke',
    'lifecycle',
    'packages',
    'registry',
    'log.ts',
    'seal.ts',
    'secret.ts',
    'version.ts',
  ],
  testing: ['contract', 'egress', 'invoke', 'lanes', 'packages', 'registry'],
  'told.ts': ['contract', 'http', 'invoke', 'lanes', 'lifecycle', 'registry', 'log.ts'],
  'reseal.ts': ['core', 'database', 'lifecycle', 'seal.ts'],
  'state.ts': ['core', 'database', 'config.ts', 'keys.ts', 'log.ts'],
  'latest.ts': [],
  'measured.ts': ['contract', 'core', 'database', 'lanes', 'latest.ts', 'log.ts'],
  processes: ['config.ts', 'egress', 'lanes'],
  'standings.ts': ['lanes', 'processes', 'registry', 'log.ts'],
  'host-parts.ts': ['egress', 'lanes', 'processes', 'testing'],
  'main.ts': [
    'host-parts.ts',
    'core',
    'database',
    'contract',
    'egress',
    'http',
    'invoke',
    'lanes',
    'lifecycle',
    'oauth',
    'processes',
    'registry',
    'testing',
    'config.ts',
    'data-dir.ts',
    'keys.ts',
    'log.ts',
    'measured.ts',
    'seal.ts',
    'standings.ts',
    'state.ts',
    'reseal.ts',
    'told.ts',
    'version.ts',
    'writable.ts',
  ],
  verify: ['contract', 'lanes'],
  cli: [
    'contract',
    'core',
    'database',
    'doctor',
    'host-parts.ts',
    'main.ts',
    'config.ts',
    'data-dir.ts',
    'keys.ts',
    'log.ts',
    'packages',
    'processes',
    'sample',
    'secret.ts',
    'testing',
    'told.ts',
    'verify',
    'version.ts',
  ],
}

/** Packages that a layer may import; what is missing may import any. */
const PACKAGES: Record<string, readonly string[]> = {
  contract: ['valibot', 're2js', 'node:stream'],
  sdk: [],
  'worker/guest': [],
}

const roomOf = (file: string): string => file.split(path.sep)[0] as string

const files = readdirSync(RUNTIME, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.m?ts$/.test(file) && !file.endsWith('.d.ts'))
  .map((file) => ({ file, text: readFileSync(path.join(RUNTIME, file), 'utf8') }))

/** What a file imports; with `values`, without what is gone after type stripping. */
const importsOf = (text: string, values = false): string[] =>
  [...text.matchAll(/^(?:import|export)\b[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm)]
    .filter(([statement]) => !values || !/^(import|export) type\b/.test(statement))
    .map((match) => (match[1] ?? match[2]) as string)

describe('the layers', () => {
  it('has an entry for every room', () => {
    expect([...new Set(files.map(({ file }) => roomOf(file)))].sort()).toEqual(
      Object.keys(MAY_IMPORT).sort(),
    )
  })

  it.each(files)('$file imports only what its layer may', ({ file, text }) => {
    const room = roomOf(file)
    const foreign = importsOf(text)
      .filter((target) => target.startsWith('.'))
      .map((target) =>
        roomOf(path.relative(RUNTIME, path.resolve(RUNTIME, path.dirname(file), target))),
      )
      .filter((target) => target !== room && !MAY_IMPORT[room]?.includes(target))
    expect(foreign).toEqual([])
  })

  it('keeps the contract, the SDK and the guest free of foreign packages', () => {
    const foreign = Object.entries(PACKAGES).flatMap(([folder, allowed]) =>
      files
        .filter(({ file }) => file.startsWith(folder + path.sep))
        .flatMap(({ file, text }) =>
          importsOf(text, true)
            .filter((target) => !target.startsWith('.') && !allowed.includes(target))
            .map((target) => `${file}: ${target}`),
        ),
    )
    expect(foreign).toEqual([])
  })

  it('has no file over 400 lines', () => {
    const long = files.filter(({ text }) => text.split('\n').length > 401).map(({ file }) => file)
    expect(long).toEqual([])
  })
})
