import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, realpath, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { compile } from '../../../runtime/connectors/registry/compile.ts'
import { readFolder } from '../../../runtime/connectors/registry/folder.ts'
import { createLauncher } from '../../../runtime/lanes/launch.ts'
import { CODE, filesOf, temporaryFolder, write } from './fixtures/folders.ts'

/** Content of the files outside. It must never appear in a result. */
const OUTSIDE = 'the-secret-of-the-neighbour'

const { prefix } = createLauncher({ file: '/nowhere', isolatedVm: '/nowhere' })

async function compiled(files: Record<string, string | Buffer>, timeoutMs = 60_000) {
  const home = temporaryFolder()
  const directory = path.join(home, 'plugins/acme')
  const neighbour = { 'secret.ts': `export default '${OUTSIDE}'`, 'secret.json': `"${OUTSIDE}"` }
  await write(path.join(home, 'plugins/neighbour'), neighbour)
  // Next to the compiler's private copies, where a relative path would lead from there.
  await write(path.join(home, 'run/neighbour'), neighbour)
  await write(path.join(home, 'run/node_modules/outside'), {
    'package.json': '{"main":"index.js"}',
    'index.js': `export default '${OUTSIDE}'`,
  })
  await write(home, { 'secret.ts': neighbour['secret.ts'] })
  await write(path.join(home, 'run'), { 'secret.ts': neighbour['secret.ts'] })
  await write(directory, { ...filesOf(), ...files })
  const workDirectory = path.join(home, 'run')
  const before = await readdir(workDirectory)
  const result = await compile(await readFolder(directory), { workDirectory, prefix, timeoutMs })
  expect(await readdir(workDirectory)).toEqual(before)
  return { result, text: result.ok ? result.code : result.findings.join('\n') }
}

const importing = (from: string) => `import outside from '${from}'\nconsole.log(outside)\n${CODE}`

describe('bundles', () => {
  const good: [string, Record<string, string>, string][] = [
    ['one file', {}, 'validate_credentials'],
    [
      'files of the package, in folders and parent folders',
      {
        'connector.ts': importing('./lib/a'),
        'lib/a.ts': "import inner from '../b.ts'\nexport default inner",
        'b.ts': "export default 'inner-text'",
      },
      'inner-text',
    ],
    [
      'JSON',
      { 'connector.ts': importing('./data.json'), 'data.json': '{"a":"inner-json"}' },
      'inner-json',
    ],
    [
      'a package in its own node_modules',
      {
        'connector.ts': importing('small'),
        'node_modules/small/package.json': '{"name":"small","main":"lib/index.js"}',
        'node_modules/small/lib/index.js': "module.exports = 'inner-package'",
      },
      'inner-package',
    ],
    [
      'a package in its own node_modules, with exports',
      {
        'connector.ts': importing('small/sub'),
        'node_modules/small/package.json':
          '{"name":"small","exports":{"./sub":{"import":"./esm/sub.mjs"}}}',
        'node_modules/small/esm/sub.mjs': "export default 'inner-export'",
      },
      'inner-export',
    ],
    [
      'code without reading its tsconfig',
      {
        'connector.ts': importing('./lib/a'),
        'lib/a.ts': "export default 'inner-text'",
        'tsconfig.json': JSON.stringify({
          extends: '../neighbour/tsconfig.json',
          compilerOptions: { paths: { './lib/a': ['../secret.ts'] }, jsxFactory: OUTSIDE },
        }),
        'lib/tsconfig.json': '{ broken',
      },
      'inner-text',
    ],
    [
      'code without resolving paths that are only known at run time',
      {
        'connector.ts': `require.resolve('/etc/passwd')
import(\`/etc/\${globalThis.x}.json\`)
require(globalThis.y)
new URL('../secret.ts', import.meta.url)
${CODE}`,
      },
      'validate_credentials',
    ],
    [
      'code without following its source map comment',
      { 'connector.ts': `${CODE}//# sourceMappingURL=../neighbour/secret.json` },
      'validate_credentials',
    ],
  ]
  test.each(good)('%s', async (_name, files, holds) => {
    const { result, text } = await compiled(files)
    expect(result.ok ? [] : result.findings).toEqual([])
    expect(text).toContain(holds)
    expect(text).not.toContain(OUTSIDE)
  })

  test('a link to a file within', async () => {
    const home = temporaryFolder()
    await write(home, { ...filesOf({}, importing('./same')), 'a.ts': "export default 'inner'" })
    await symlink('a.ts', path.join(home, 'same.ts'))
    const options = {
      workDirectory: path.join(temporaryFolder(), 'run'),
      prefix,
      timeoutMs: 60_000,
    }
    const result = await compile(await readFolder(home), options)
    expect(result).toMatchObject({ ok: true, code: expect.stringContaining('inner') })
  })

  test('without comments, which would reveal the path of the runtime', async () => {
    const { text } = await compiled({
      'connector.ts': `// a note of the author\n/*! legal */\n${CODE}`,
    })
    expect(text).not.toMatch(/\/\/|\/\*|snap|runtime\/|\.ts\b/)
  })

  test('with the names of the source', async () => {
    const { text } = await compiled({
      'connector.ts': `function findEverybody() { return 1 }\nconsole.log(findEverybody)\n${CODE}`,
    })
    expect(text).toContain('function findEverybody()')
  })

  test('in strict mode', async () => {
    const { text } = await compiled({})
    expect(text).toMatch(/^['"]use strict['"];/)
  })

  test('to lines of less than 1000 characters', async () => {
    const { text } = await compiled({})
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThan(1000)
  })

  test('to the same code for any path of the folder', async () => {
    const [one, other] = [await compiled({}), await compiled({})]
    expect(one.text).toBe(other.text)
  })
})

const outside = 'is outside the connector'
const absent = 'is not there in the sandbox'
const packageWith = (json: object) => ({
  'connector.ts': importing('evil'),
  'node_modules/evil/package.json': JSON.stringify({ name: 'evil', ...json }),
})

describe('refuses', () => {
  const bad: [string, Record<string, string | Buffer>, string][] = [
    ['a path upwards', { 'connector.ts': importing('../secret.ts') }, outside],
    [
      'a path upwards and down again',
      { 'connector.ts': importing('../neighbour/secret') },
      outside,
    ],
    [
      'a path many folders upwards',
      { 'connector.ts': importing('../../../../../../../etc/passwd') },
      outside,
    ],
    [
      'a path that begins inside the package and leaves it',
      { 'connector.ts': importing('./lib/../../secret') },
      outside,
    ],
    ['the path ..', { 'connector.ts': importing('..') }, outside],
    ['an absolute path', { 'connector.ts': importing('/etc/passwd') }, outside],
    ['an absolute path in a call', { 'connector.ts': `import('/etc/passwd')\n${CODE}` }, outside],
    ['an absolute path in require', { 'connector.ts': `require('/etc/passwd')\n${CODE}` }, outside],
    [
      'a file of the runtime',
      { 'connector.ts': importing(path.resolve('runtime/config/config.ts')) },
      outside,
    ],
    [
      'a file of the contract',
      { 'connector.ts': `import '${path.resolve('runtime/contract/errors/errors.ts')}'\n${CODE}` },
      outside,
    ],
    [
      'a file of the SDK by its path',
      { 'connector.ts': `import '${path.resolve('runtime/sdk/sdk.ts')}'\n${CODE}` },
      outside,
    ],
    [
      'a pattern that leaves the package',
      { 'connector.ts': `import('../../' + globalThis.x + '.ts')\n${CODE}` },
      '',
    ],
    ['node:fs', { 'connector.ts': importing('node:fs') }, absent],
    ['fs', { 'connector.ts': importing('fs') }, absent],
    ['fs/promises', { 'connector.ts': importing('fs/promises') }, absent],
    ['child_process in a call', { 'connector.ts': `import('child_process')\n${CODE}` }, absent],
    ['a file address', { 'connector.ts': importing('file:///etc/passwd') }, ''],
    ['a data address', { 'connector.ts': importing('data:text/javascript,export default 1') }, ''],
    ['a web address', { 'connector.ts': importing('https://evil.example/x.js') }, ''],
    ['keyway/testing', { 'connector.ts': importing('keyway/testing') }, 'is for tests'],
    ['another part of keyway', { 'connector.ts': importing('keyway/package.json') }, ''],
    ['a package of the runtime', { 'connector.ts': importing('valibot') }, ''],
    ['a package of a parent folder', { 'connector.ts': importing('outside') }, outside],
    ['an unknown package', { 'connector.ts': importing('nowhere') }, 'cannot find nowhere'],
    ['a missing file', { 'connector.ts': importing('./gone') }, 'cannot find ./gone'],
    ['a style sheet', { 'connector.ts': "import './a.css'", 'a.css': '' }, 'cannot find ./a.css'],
    ['a binary', { 'connector.ts': "import './a.node'", 'a.node': '' }, 'cannot find ./a.node'],
    [
      'a text attribute on a file outside the package',
      { 'connector.ts': "import t from '../secret.json' with { type: 'text' }\nexport default t" },
      outside,
    ],
    [
      'an image',
      { 'connector.ts': importing('./logo.svg'), 'logo.svg': '<svg/>' },
      'only ts, js and json',
    ],
    [
      'a package whose main lies outside',
      packageWith({ main: '../../../../../../../../../etc/passwd' }),
      '',
    ],
    ['a package whose main is absolute', packageWith({ main: '/etc/passwd' }), ''],
    ['a package whose module lies outside', packageWith({ module: '../../../secret.ts' }), ''],
    ['a package whose exports lie outside', packageWith({ exports: '../../../secret.ts' }), ''],
    ['a package whose exports contain ..', packageWith({ exports: './../../../secret.ts' }), ''],
    [
      'a package whose browser map leads outside',
      packageWith({ main: 'a.js', browser: { './a.js': '../../../secret.ts' } }),
      '',
    ],
    [
      'an import map that leaves the package',
      {
        'connector.ts': importing('#secret'),
        'package.json': '{"name":"x","imports":{"#secret":"../secret.ts"}}',
      },
      '',
    ],
    [
      'an import map to a built-in',
      {
        'connector.ts': importing('#fs'),
        'package.json': '{"name":"x","imports":{"#fs":"node:fs"}}',
      },
      '',
    ],
    [
      'an import map to a package of a parent folder',
      {
        'connector.ts': importing('#out'),
        'package.json': '{"name":"x","imports":{"#out":"outside"}}',
      },
      '',
    ],
    [
      'a package that imports a file outside of it',
      {
        'connector.ts': importing('evil'),
        'node_modules/evil/package.json': '{"name":"evil"}',
        'node_modules/evil/index.js': "export { default } from '../../../secret.ts'",
      },
      outside,
    ],
  ]
  test.each(bad)('%s', async (_name, files, words) => {
    const { result, text } = await compiled(files)
    expect(result).toMatchObject({ ok: false })
    expect(text).toContain(words)
    expect(text).not.toMatch(/the-secret|root:/)
  })

  test('a pattern that leads out, without revealing the files there', async () => {
    const { text } = await compiled({
      'connector.ts': `export default {}\nimport(\`../neighbour/\${globalThis.x}\`)`,
    })
    expect(text).not.toMatch(/secret\.ts|secret\.json/)
  })

  test('a folder without connector.ts', async () => {
    const home = temporaryFolder()
    await mkdir(home, { recursive: true })
    await writeFile(path.join(home, 'connector.json'), '{}')
    const options = { workDirectory: path.join(home, 'run'), prefix, timeoutMs: 60_000 }
    expect(await compile(await readFolder(home), options)).toEqual({
      ok: false,
      findings: ['there is no connector.ts in the folder'],
    })
  })

  test.each([
    ['connector.ts', { 'connector.ts': 'const a = 1\nconst b = = 2\n' }, 'connector.ts:2:11: '],
    [
      'another file',
      { 'connector.ts': importing('./lib/a'), 'lib/a.ts': 'export default {{' },
      'lib/a.ts:1:',
    ],
    ['JSON', { 'connector.ts': importing('./a.json'), 'a.json': '{"a":}' }, 'a.json:1:6: '],
  ])('a syntax error in %s, with file, line and column', async (_name, files, begins) => {
    const { result, text } = await compiled(files as Record<string, string>)
    expect(result.ok).toBe(false)
    expect(text.startsWith(begins)).toBe(true)
  })

  test('top-level await, with its location', async () => {
    const { text } = await compiled({ 'connector.ts': `await Promise.resolve()\n${CODE}` })
    expect(text).toMatch(/^connector\.ts:1:1: Top-level await/)
  })

  test('many faults, with ten findings', async () => {
    const { result } = await compiled({
      'connector.ts': Array.from({ length: 50 }, (_, one) => `import './gone${one}'`).join('\n'),
    })
    expect(result).toMatchObject({ ok: false, findings: { length: 10 } })
  })

  test('a bundle over the size limit', async () => {
    const { text } = await compiled({
      'connector.ts': `${CODE}globalThis.x = '${'x'.repeat(20_000_000)}'`,
    })
    expect(text).toMatch(/the bundle (has more than|is too large)/)
  })

  test('code that takes too long to compile', async () => {
    const { text } = await compiled({}, 1)
    expect(text).toBe('compiling took longer than 1 ms')
  })
})

describe('ends with a finding or a bundle for', () => {
  const hard: [string, string, string][] = [
    ['unclosed parentheses', '('.repeat(2_000_000), 'connector.ts: its sources are nested'],
    [
      'nested parentheses',
      `export default ${'('.repeat(50_000)}1${')'.repeat(50_000)}`,
      'a bundle',
    ],
    ['a long chain of arrow functions', `${'a=>'.repeat(20_000)}1`, 'a bundle'],
    ['a long chain', `export default ${'1+'.repeat(200_000)}1`, 'a bundle'],
    ['unclosed templates', '`${'.repeat(200_000), 'connector.ts:1:600001: Unexpected end of file'],
    ['an unclosed type', `type A = ${'A<'.repeat(200_000)}`, ':1:400010: Unexpected end of file'],
    ['bytes that are not text', '\u0000\uffff\u0001'.repeat(1000), 'connector.ts:1:1: Unexpected'],
  ]
  test.each(hard)('%s', async (_name, code, end) => {
    const { result, text } = await compiled({ 'connector.ts': code })
    expect(result.ok ? 'a bundle' : text).toContain(end)
  })
})

test('compiles in a checkout whose node_modules is a link', async () => {
  const repository = path.join(import.meta.dirname, '../../..')
  const home = temporaryFolder()
  for (const part of ['runtime', 'package.json'])
    await cp(path.join(repository, part), path.join(home, part), { recursive: true })
  await symlink(
    await realpath(path.join(repository, 'node_modules')),
    path.join(home, 'node_modules'),
  )
  await write(path.join(home, 'acme'), filesOf())
  const moduleOf = (name: string) =>
    pathToFileURL(path.join(home, 'runtime/connectors/registry', name)).href
  const script = `
    import { compile } from '${moduleOf('compile.ts')}'
    import { readFolder } from '${moduleOf('folder.ts')}'
    const options = { workDirectory: ${JSON.stringify(path.join(home, 'run'))}, prefix: [], timeoutMs: 60_000 }
    const { ok } = await compile(await readFolder(${JSON.stringify(path.join(home, 'acme'))}), options)
    console.log(ok)`
  const args = ['--no-warnings', '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: home })
  expect(stdout.trim()).toBe('true')
})
