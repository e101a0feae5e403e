/** Every example of the SDK and every TypeScript snippet of the pages compiles as an author would compile it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { exportsOf } from '../scripts/for-authors.ts'

const ROOT = path.join(import.meta.dirname, '..')
const exported = exportsOf('sdk/sdk.ts')
const GRANTED = readFileSync(path.join(ROOT, 'test/fixtures/readme/examples.ts'), 'utf8').replace(
  /^import .*\n|^export /gm,
  '',
)

/** TYPES: the files that `./connector.types.ts` stands for: one for snippets, and one for each template. */
const TYPES = [
  { file: 'connector.types.ts', folder: 'test/fixtures/readme' },
  { file: 'ldap.types.ts', folder: 'plugin-template/ldap' },
  { file: 'sql.types.ts', folder: 'plugin-template/sql' },
]

function withItsTypes(text: string): string {
  const [, ...templates] = TYPES
  const own = templates.find(
    ({ folder }) => readFileSync(path.join(ROOT, folder, 'connector.ts'), 'utf8') === text,
  )
  return own === undefined ? text : text.replace('./connector.types.ts', `./${own.file}`)
}

/** A snippet as a module: one without imports is an example of the SDK, and gets what examples presuppose. */
function moduleOf(text: string): string {
  if (/^import /m.test(text)) return text
  const [, declared] = /^(?:declare (?:function|class)|type) (\w+)/.exec(text) ?? []
  const names = exported
    .filter(({ name }) => name !== declared)
    .map(({ name, isType }) => (isType ? `type ${name}` : name))
  const imports = `import { ${names.join(', ')} } from 'keyway/sdk'\n`
  if (declared !== undefined) return `${imports}export ${text}`
  const isModule = /^export /m.test(text)
  return `${imports}${GRANTED}${isModule ? text : `export async function example() {\n${text}\n}`}`
}

/** The snippets of all pages, by file name; the examples of the SDK are in the reference. */
function snippets(): Map<string, string> {
  const pages = execFileSync('git', ['ls-files', '--', '*.md'], { cwd: ROOT, encoding: 'utf8' })
  const all = pages
    .split('\n')
    .filter((page) => page !== '' && !page.startsWith('runtime/spec/'))
    .flatMap((page) => {
      const text = readFileSync(path.join(ROOT, page), 'utf8')
      return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ''], index) => {
        const name = `${page.replaceAll(/\W+/g, '-')}-${index}.ts`
        return [name, code] as const
      })
    })
  return new Map(all)
}

test('every example and snippet compiles', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'keyway-examples-'))
  try {
    const found = snippets()
    // The reference is generated from these examples; an outdated page would prove nothing.
    const shown = [...found.values()].join('\n')
    for (const { examples } of exported) for (const one of examples) expect(shown).toContain(one)
    for (const [name, text] of found)
      writeFileSync(path.join(folder, name), moduleOf(withItsTypes(text)))
    for (const { file, folder: from } of TYPES)
      cpSync(path.join(ROOT, from, 'connector.types.ts'), path.join(folder, file))
    const tsconfig = {
      extends: path.join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        noEmit: true,
        typeRoots: [path.join(ROOT, 'node_modules/@types')],
        paths: {
          'keyway/sdk': [path.join(ROOT, 'runtime/sdk/sdk.ts')],
          'keyway/testing': [path.join(ROOT, 'runtime/testing/testing.ts')],
        },
      },
      include: ['*.ts'],
      exclude: [],
    }
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
    const { stdout } = spawnSync('tsc', ['-p', folder, '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${ROOT}/node_modules/.bin:${process.env['PATH']}` },
    })
    expect(stdout).toBe('')
    expect(found.size).toBeGreaterThan(50)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
