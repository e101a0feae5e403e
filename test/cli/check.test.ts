/** `keyway check` of packages, alone and against an earlier version; dry runs of authors' commands. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TEMPLATES } from '../../runtime/cli/templates.ts'
import { keyway as run } from './keyway.ts'

let home: string
const keyway = (...args: string[]) => run(args, { cwd: home })

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'keyway-check-cli-'))
  await keyway('new', 'acme', '--dir', '.')
  await keyway('pack', 'acme', '--out', 'acme-0.1.0.tgz')
  await cp(path.join(home, 'acme'), path.join(home, 'next'), { recursive: true })
  const manifest = path.join(home, 'next', 'connector.json')
  const text = (await readFile(manifest, 'utf8'))
    .replace('"version": "0.1.0"', '"version": "0.2.0"')
    .replace('"pattern": "^[a-z0-9-]+$"', '"pattern": "^[a-z]+$"')
    .replace('"type_label": "Role"', '"type_label": "Group"')
  await writeFile(manifest, text)
})
afterAll(() => rm(home, { recursive: true, force: true }))

test('a package is checked like its folder', async () => {
  const { code, out } = await keyway('check', 'acme', 'acme-0.1.0.tgz')
  expect(code).toBe(0)
  expect(out).toBe('ok   acme 0.1.0: 7 cases passed, 0 findings\n'.repeat(2))
})

test('a version is checked against the previous one: breaking changes are listed with advice', async () => {
  const { code, out } = await keyway('check', 'next', '--against', 'acme-0.1.0.tgz')
  expect(code).toBe(1)
  expect(out).toMatch(/breaking in settings\.subdomain:\n {4}must match .* now\n {6}→ keep it/)
  expect(out).toMatch(/notice in entitlement_types\.ROLE:\n {4}was called "Role", is "Group"/)
  // Below 1.0.0, a new minor version announces a breaking change.
  expect(out).not.toContain('notice in version')
  const allowed = await keyway('check', 'next', '--against', 'acme-0.1.0.tgz', '--allow-breaking')
  expect([allowed.code, allowed.out.slice(0, 4)]).toEqual([0, 'ok  '])
  expect((await keyway('check', 'acme', '--against', 'acme-0.1.0.tgz')).code).toBe(0)
})

test('--json prints the findings with their severity and advice', async () => {
  const { out } = await keyway('check', 'next', '--against', 'acme-0.1.0.tgz', '--json')
  const [{ ok, findings }] = JSON.parse(out)
  expect(ok).toBe(false)
  expect(findings[0]).toEqual({
    severity: 'breaking',
    where: 'settings.subdomain',
    message: expect.any(String),
    advice: expect.any(String),
  })
})

test('pack refuses a version with breaking changes, unless --allow-breaking is given', async () => {
  const refused = await keyway('pack', 'next', '--against', 'acme-0.1.0.tgz')
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('breaking') })
  const allowed = await keyway(
    ...['pack', 'next', '--against', 'acme-0.1.0.tgz', '--allow-breaking', '--dry-run'],
  )
  expect(allowed).toMatchObject({ code: 0, out: expect.stringContaining('(not written)') })
})

test.each([
  [['check', 'acme', '--against', 'acme/README.md'], 'acme/README.md: it is no package'],
  [['check', 'acme', '--against', 'nowhere.tgz'], 'there is no file nowhere.tgz'],
  [['check', 'acme/README.md'], 'acme/README.md: it is no package'],
  [['new', 'acme', '--dir', '.'], 'already exists'],
  [['new', 'Not An Id'], 'Not An Id: '],
  [['new', 'scim', '--dir', '.'], 'scim: a built-in connector has this id'],
  [['new', 'active_directory', '--dir', '.'], 'a built-in connector has this id'],
  [
    ['new', 'desk', '--from', 'nothing', '--dir', '.'],
    'the connectors are active-directory, github',
  ],
  [['new', 'desk', '--from', 'README.md', '--dir', '.'], 'there is no such connector'],
])('%j says what is wrong', async (args, words) => {
  expect(await keyway(...args)).toMatchObject({ code: 1, err: expect.stringContaining(words) })
})

test('new refuses --template together with --from', async () => {
  expect(await keyway('new', 'desk', '--from', 'scim', '--template', 'sql')).toMatchObject({
    code: 2,
    err: expect.stringContaining('cannot be used with'),
  })
})

test.each(Object.entries(TEMPLATES).filter(([template]) => template !== 'web'))(
  'a new connector from the template %s passes its check unchanged',
  async (template, { folder: source, page }) => {
    const folder = path.join(home, `of-${template}`)
    const made = await keyway('new', `of-${template}`, '--template', template, '--dir', '.')
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining(`authors/${page}`) })
    expect((await readdir(folder)).sort()).toEqual([
      ...['README.md', 'connector.cases.json', 'connector.json', 'connector.ts'],
      ...['connector.types.ts', 'package.json', 'tsconfig.json'],
    ])
    expect(await readFile(path.join(folder, 'README.md'), 'utf8')).toMatch(
      /^# Of (Ldap|Sql|Sql Tables)\n/,
    )
    const { cases } = JSON.parse(
      await readFile(path.join('plugin-template', source, 'connector.cases.json'), 'utf8'),
    )
    expect(cases.length).toBeGreaterThan(4)
    const { out } = await keyway('check', `of-${template}`)
    expect(out).toBe(`ok   of-${template} 1.0.0: ${cases.length} cases passed, 0 findings\n`)
  },
)

test('dry runs write no files, and print JSON with --json', async () => {
  await keyway('keygen', 'acme.key')
  const before = await readdir(home)
  const dry = async (...args: string[]) => {
    const { code, out } = await keyway(...args, '--dry-run', '--json')
    return { code, ...JSON.parse(out) }
  }
  expect(await dry('new', 'other')).toMatchObject({ code: 0, files: expect.any(Array) })
  expect(await dry('pack', 'acme', '--out', 'b.tgz')).toMatchObject({ code: 0, file: 'b.tgz' })
  expect(await dry('keygen', 'b.key')).toMatchObject({ code: 0, public_key: 'b.key.pub' })
  expect(await dry('keygen', 'acme.key')).toMatchObject({ code: 1, error: {} })
  expect(await dry('sign', 'acme-0.1.0.tgz', '--key', 'acme.key')).toMatchObject({
    file: 'acme-0.1.0.tgz.sig',
  })
  expect(await readdir(home)).toEqual(before)
})

test('a secret in a file is reported', async () => {
  const readme = path.join(home, 'next', 'README.md')
  await writeFile(readme, `token: ghp_${'a1B2'.repeat(9)}`)
  expect(await keyway('check', 'next')).toMatchObject({
    code: 1,
    out: expect.stringContaining('a GitHub token'),
  })
})

test('connector.types.ts is regenerated from connector.json if a source imports it', async () => {
  const [types, manifest, source] = ['connector.types.ts', 'connector.json', 'connector.ts'].map(
    (name) => path.join(home, 'typed', name),
  ) as [string, string, string]
  await cp(path.join(home, 'acme'), path.join(home, 'typed'), { recursive: true })
  const text = await readFile(manifest, 'utf8')
  const before = await readFile(types, 'utf8')
  expect(before).toContain("auth: 'token'")
  expect(before).toContain('    subdomain: string\n')
  await writeFile(
    manifest,
    text.replace('"settings": {', '"settings": { "limit": { "type": "integer" },'),
  )
  expect((await keyway('check', 'typed')).code).toBe(0)
  expect(await readFile(types, 'utf8')).toContain('    limit?: number\n    subdomain: string\n')
  // Missing, but imported.
  await rm(types)
  await keyway('check', 'typed')
  expect(await readFile(types, 'utf8')).toContain('limit?: number')
  // No source imports it.
  await rm(types)
  const typed = await readFile(source, 'utf8')
  await writeFile(
    source,
    typed.replace(/^import type \{ Connector.*\n/m, 'type Connector = { subdomain: string }\n'),
  )
  expect((await keyway('check', 'typed')).code).toBe(0)
  expect(await readdir(path.join(home, 'typed'))).not.toContain('connector.types.ts')
})

test('--update rewrites the cases in which only the answers differ, after confirmation by --yes', async () => {
  const folder = path.join(home, 'updated')
  await cp(path.join(home, 'acme'), folder, { recursive: true })
  const file = path.join(folder, 'connector.cases.json')
  const good = await readFile(file, 'utf8')
  const stale = good
    .replace('"unique_tenant_id": "ws-1"', '"unique_tenant_id": "ws-0"')
    .replace('"given_name": "Bo"', '"given_name": "Bob"')
    .replace('"status_code": 429', '"status_code": 430')
    // A different request, and an error instead of an answer: --update accepts neither.
    .replace('"GET /v1/roles"', '"GET /v1/rules"')
    .replace('"reply": { "status": 204 }', '"reply": { "status": 500 }')
  await writeFile(file, stale)
  const asked = await keyway('check', 'updated', '--update')
  expect(asked.code).toBe(1)
  expect(asked.out).toContain('response.unique_tenant_id should be "ws-0", is "ws-1"')
  expect(asked.out).toContain(
    '3 cases would expect the current responses: the tenant is the workspace, two pages',
  )
  expect(asked.err).toContain('add --yes')
  expect(await readFile(file, 'utf8')).toBe(stale)

  const done = await keyway('check', 'updated', '--update', '--yes')
  expect(done.code).toBe(1)
  expect(done.out).toMatch(/FAIL acme 0\.1\.0: 5 cases passed, 2 findings/)
  expect(done.out).toContain(
    'Updated 3 cases to the current responses: the tenant is the workspace, two pages',
  )
  expect(done.out).not.toContain('would')
  const now = await readFile(file, 'utf8')
  const undo = now
    .replace('"GET /v1/rules"', '"GET /v1/roles"')
    .replace('"reply": { "status": 500 }', '"reply": { "status": 204 }')
  expect(undo).toBe(good)
  await writeFile(file, undo)
  expect((await keyway('check', 'updated', '--update')).out).toBe(
    'ok   acme 0.1.0: 7 cases passed, 0 findings\n',
  )
})
