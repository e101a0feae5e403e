/** The package, installed from its tarball in an empty folder, does what the checkout does. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { send } from './client.ts'
import { begin, newHome, ROOT, run, stopCommands } from './command.ts'
import { install, pack, type Tarball } from './tarball.ts'

let home: string
let tarball: Tarball
let file: string

beforeAll(async () => {
  home = await newHome()
  tarball = pack(home)
  await install(tarball, home)
  file = path.join(home, 'node_modules', 'keyway', 'runtime', 'cli', 'keyway.mjs')
})
afterAll(stopCommands)

/** What the compiler says in the author's folder: this repository's, with the settings that it writes itself. */
const tsc = (...args: string[]): string => {
  const { stdout, stderr, error } = spawnSync(
    path.join(ROOT, 'node_modules', '.bin', 'tsc'),
    args,
    { cwd: home, encoding: 'utf8' },
  )
  if (error) throw error
  return stdout + stderr
}

/** Every folder that a path lies in. */
const foldersOf = (file: string): string[] => {
  const folder = path.posix.dirname(file)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

/** Relative links of a page, without what stands in blocks of code. */
const linksOf = (page: string): string[] =>
  [...page.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))

describe('the tarball', () => {
  test('holds what runs, and neither sources nor tests nor what only this repository needs', () => {
    const rooms = new Set(tarball.paths.map((one) => one.split('/')[0]))
    expect([...rooms].sort()).toEqual([
      ...['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'dist', 'package.json'],
      ...['plugin-template', 'plugins', 'runtime', 'scripts', 'test'],
    ])
    const strange = tarball.paths.filter(
      (one) =>
        /\.test\.ts$|_snapshot\.json$/.test(one) ||
        (/^dist\/.*\.ts$/.test(one) && !one.endsWith('.d.ts')) ||
        (/^(test|scripts)\//.test(one) &&
          !/^(test\/hostile|scripts\/deploy)\//.test(one) &&
          !['test/bench/RESULTS.md', 'test/fixtures/readme/people.csv'].includes(one)),
    )
    expect(strange).toEqual([])
    const runtime = tarball.paths.filter(
      (one) => one.startsWith('runtime/') && !one.endsWith('.md'),
    )
    expect(runtime).toEqual(['runtime/cli/keyway.mjs'])
  })

  test('holds everything that its pages link to', async () => {
    const held = new Set(tarball.paths.flatMap((one) => [one, ...foldersOf(one)]))
    const pages = tarball.paths.filter((one) => one.endsWith('.md'))
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'scripts/deploy/README.md']))
    const broken = pages.flatMap((page) =>
      linksOf(readFileSync(path.join(ROOT, page), 'utf8'))
        .map((link) => path.posix.join(path.posix.dirname(page), link).replace(/\/$/, ''))
        .filter((target) => target !== '.' && !held.has(target))
        .map((target) => `${page}: ${target}`),
    )
    expect(broken, '`files` in package.json names them').toEqual([])
  })

  test('declares types of what authors import, and of nothing else', () => {
    const folders = tarball.paths
      .filter((one) => one.endsWith('.d.ts'))
      .map((one) => path.dirname(one))
    expect([...new Set(folders)].sort()).toEqual(['dist/contract', 'dist/sdk', 'dist/testing'])
  })

  test('holds every connector that is built in, and no other', async () => {
    const builtIn = JSON.parse(
      await readFile(path.join(ROOT, 'runtime/registry/built-in.json'), 'utf8'),
    )
    const packed = tarball.paths
      .filter((one) => /^plugins\/[^/]+\/connector\.json$/.test(one))
      .map((one) => one.split('/')[1])
    expect(packed.sort(), '`files` in package.json names them').toEqual(Object.keys(builtIn).sort())
  })

  test('is built before it is packed', async () => {
    const { scripts } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'))
    expect(scripts.prepack).toBe('npm run build')
    expect(scripts.build).toBe('node scripts/build.ts')
  })
})

describe('an author', () => {
  test('makes a connector whose types are found, which passes its check and becomes a package', async () => {
    const made = await run(['new', 'acme'], { file, cwd: home })
    expect(made).toMatchObject({ code: 0 })
    expect(made.output).not.toContain('types of keyway/sdk')
    const [, reference = ''] = /What may stand in its files: (\S+)/.exec(made.output) ?? []
    expect(await readFile(path.join(home, reference), 'utf8')).toContain('## Manifest')
    expect(tsc('-p', 'plugins/acme')).toBe('')
    const checked = await run(['check', 'plugins/acme'], { file, cwd: home })
    expect(checked.output).toMatch(/^ok {3}acme 0\.1\.0: \d+ cases passed, 0 findings/)
    expect(checked.code).toBe(0)
    const packed = await run(['pack', 'plugins/acme'], { file, cwd: home })
    expect(packed.output).toContain('acme-0.1.0.tgz')
    expect(packed.code).toBe(0)
  })

  test('is told a mistake by the types of keyway/sdk and keyway/testing', async () => {
    await writeFile(
      path.join(home, 'plugins', 'acme', 'mistakes.ts'),
      `import { defineConnector } from 'keyway/sdk'
import { checkConnector } from 'keyway/testing'
export default defineConnector({ async list_acounts() { return [] } })
export const checked: Promise<number> = checkConnector('plugins/acme')
`,
    )
    const errors = tsc('-p', 'plugins/acme')
    await rm(path.join(home, 'plugins', 'acme', 'mistakes.ts'))
    expect(errors).toContain("Did you mean to write 'list_accounts'?")
    expect(errors).toContain("'Promise<CheckResult>' is not assignable")
    expect(errors.match(/error TS/g)).toHaveLength(2)
  })

  /** The Node that came with the package, and the oldest that may be there. */
  const nodes = [
    'node_modules/.bin/node',
    ...(existsSync('/usr/bin/node') ? ['/usr/bin/node'] : []),
  ]

  test.each(nodes)('checks a connector from a test of their own, run by %s', async (which) => {
    await cp(path.join(ROOT, 'plugin-template'), path.join(home, 'mine'), {
      recursive: true,
      force: true,
    })
    const script = `import { checkConnector } from 'keyway/testing'
const { ok, id } = await checkConnector('mine')
console.log(JSON.stringify({ ok, id }))`
    const node = path.resolve(home, which)
    const told = execFileSync(node, ['--input-type=module', '--eval', script], {
      cwd: home,
      encoding: 'utf8',
    })
    expect(JSON.parse(told)).toEqual({ ok: true, id: 'acme' })
  })
})

test('the server serves the sample and what was dropped in beside it, and stops when asked', async () => {
  const env = {
    PORT: '0',
    KEYWAY_DATA_DIR: path.join(home, 'data'),
    KEYWAY_ADMIN_TOKEN: `lsk_${'t'.repeat(32)}`,
  }
  expect((await run(['new', 'dropped'], { file, cwd: home })).code).toBe(0)
  const command = begin(['start', '--sample', '--sample-port', '0'], { env, cwd: home, file })
  const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
  const [, baseUrl = ''] = await command.prints(/"base_url":"([^"]+)"/)
  const { text } = await send(`${url}/connectors/scim/list_accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      auth: { token: { token: 'sample-token' } },
      settings: { base_url: baseUrl },
      request: {},
      page: { size: 5 },
    }),
  })
  expect(JSON.parse(text).response).toHaveLength(5)
  // The company is made by the core interface: with it stand the database and its migrations.
  await command.prints(/the sample company was made/)
  const authorization = `Bearer ${env.KEYWAY_ADMIN_TOKEN}`
  const listed = await send(`${url}/operator/connectors`, { headers: { authorization } })
  const rows = JSON.parse(listed.text).items as Record<string, unknown>[]
  const row = (id: string) => rows.find((one) => one['id'] === id)
  expect(row('scim')).toMatchObject({ source: 'built-in', serving: true })
  expect(row('dropped')).toMatchObject({ source: 'drop-in', serving: true })
  command.kill('SIGTERM')
  expect(await command.ended).toEqual({ code: 0, signal: null })
})

test('verify finds its attacks, and contains one', async () => {
  const { output, code } = await run(['verify', '--only', 'import-runtime'], { file, cwd: home })
  expect(output).toContain('1 of 1 attacks contained')
  expect(code).toBe(0)
})
