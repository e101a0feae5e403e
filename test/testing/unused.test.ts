/** Warnings about declarations for databases and directories that the code does not use, and the reverse. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CheckBench, openCheckBench } from '../../runtime/testing/check-connector.ts'
import { manifestOf, temporaryFolder, write } from '../connectors/registry/fixtures/folders.ts'

let bench: CheckBench
beforeAll(async () => {
  bench = await openCheckBench()
})
afterAll(() => bench.close())

/** The findings about a connector with this body, apart from that of the missing capability. */
async function findings(manifest: object, body: string, upstream: object[] = []) {
  const directory = temporaryFolder()
  const one = { name: 'one', capability: 'list_accounts', upstream }
  const auth = { basic: { username: 'jo', password: 'the-password' } }
  await write(directory, {
    'connector.json': JSON.stringify(
      manifestOf({
        authentication_schema: { kind: 'basic' },
        capabilities: { list_accounts: {} },
        ...manifest,
      }),
    ),
    'connector.ts': `// @ts-nocheck
import { defineConnector } from 'keyway/sdk'
export default defineConnector({
  async list_accounts(request, ctx) {
    ${body}
    return []
  },
})`,
    'connector.cases.json': JSON.stringify([{ ...one, auth }]),
  })
  const { findings: all } = await bench.check(directory)
  return all
    .filter(({ message }) => !message.startsWith('validate_credentials is missing'))
    .map(({ severity, where, message }) => `${severity} in ${where}: ${message}`)
}

describe('statements', () => {
  const statements = Object.fromEntries(
    ['people', 'grants_read', 'grants_write'].map((name) => [
      name,
      { text: 'select 1 as id', reads: true },
    ]),
  )
  const database = {
    egress: [
      {
        sql: 'postgresql://db.example',
        dialect: 'postgresql',
        database: 'hr',
        login: { credential: 'auth' },
      },
    ],
    statements,
  }
  const unused = (name: string) =>
    `warning in connector.json: statements.${name}: no code uses it; remove it, because operators grant it`
  const asked = (name: string) => ({
    request: `QUERY /${name}`,
    reply: { status: 200, body: { rows: [] } },
  })

  test.each([
    ['no statement at all', '', [], Object.keys(statements).map(unused)],
    [
      'one of them by name',
      "if (ctx.page.cursor) await ctx.sql.query('people')",
      [],
      ['grants_read', 'grants_write'].map(unused),
    ],
    [
      'names built from a beginning',
      "if (ctx.page.cursor) for (const x of ['read', 'write']) await ctx.sql.query('grants_' + x)",
      [],
      [unused('people')],
    ],
    [
      'names of a table',
      'const names = { people: 1, grants_read: 1, grants_write: 1 }; if (ctx.page.cursor) for (const x in names) await ctx.sql.query(x)',
      [],
      [],
    ],
    [
      'a name that only a case shows',
      "await ctx.sql.query(['le', 'peop'].reverse().join(''))",
      [asked('people')],
      ['grants_read', 'grants_write'].map(unused),
    ],
    [
      'a name that is not declared',
      "if (ctx.page.cursor) { await ctx.sql.query('peple'); await ctx.sql.query('people'); for (const x of ['read', 'write']) await ctx.sql.query('grants_' + x) }",
      [],
      [
        'warning in connector.json: the code uses the statement peple, which "statements" does not declare; did you mean people?',
      ],
    ],
    [
      'a step that is not declared',
      "if (ctx.page.cursor) { await ctx.sql.transaction([{ statement: 'nothing_like_it' }]); await ctx.sql.query('people'); for (const x of ['read', 'write']) await ctx.sql.query('grants_' + x) }",
      [],
      [
        'warning in connector.json: the code uses the statement nothing_like_it, which "statements" does not declare',
      ],
    ],
  ])('code that uses %s', async (_what, body, upstream, expected) => {
    expect(await findings(database, body, upstream)).toEqual(expected)
  })
})

test('names that the bundle splits over two lines are found', async () => {
  const [one, two] = ['a', 'b'].map((letter) => letter.repeat(60))
  const statement = { text: 'select 1 as id', reads: true }
  const body = `const names = ['${one}', '${two}']; if (ctx.page.cursor) for (const x of names) await ctx.sql.query(x)`
  const statements = Object.fromEntries([one, two].map((name) => [name, statement]))
  expect(await findings({ statements }, body)).toEqual([])
})

describe('operations of a directory', () => {
  const directory = {
    egress: [
      {
        ldap: 'ldaps://directory.example',
        base: 'dc=acme',
        bind: { credential: 'auth' },
        operations: ['search', 'delete', 'modifyDN', 'password'],
      },
    ],
  }
  const unused = (call: string, operation: string) =>
    `warning in connector.json: egress[0].operations: no code calls ctx.ldap.${call}; remove "${operation}", because operators grant it`

  test.each([
    [
      'searches',
      'if (ctx.page.cursor) await ctx.ldap.search({})',
      [unused('delete', 'delete'), unused('move', 'modifyDN')],
    ],
    [
      'uses all of them',
      "if (ctx.page.cursor) { await ctx.ldap.search({}); await ctx.ldap.delete('dc=a'); await ctx.ldap.move('dc=a', 'dc=b') }",
      [],
    ],
    [
      'hands the directory on',
      'if (ctx.page.cursor) { const { ldap } = ctx; await ldap.search({}) }',
      [],
    ],
  ])('code that %s', async (_what, body, expected) => {
    expect(await findings(directory, body)).toEqual(expected)
  })
})
