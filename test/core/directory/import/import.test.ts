/** Importing people from a CSV file: the file is applied completely or not at all. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { groupMembers, groups, users } from '../../../../runtime/database/schema/people.ts'
import { type CoreHost, otherDomain, person, startCore } from '../../host.ts'
import { storedLog } from '../../log.ts'

let core: CoreHost

beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

const send = (csv: string | Uint8Array, query = '', headers: Record<string, string> = {}) =>
  core.call('POST', `/operator/users/import${query}`, {
    raw: csv as string,
    headers: { 'content-type': 'text/csv', ...headers },
  })
const dryRun = (csv: string | Uint8Array) => send(csv, '?dry_run=true')

/** Everything that an import may touch. */
const snapshot = async () =>
  Promise.all([
    core.db.select().from(users).orderBy(users.email),
    core.db.select().from(groups).orderBy(groups.name),
    core.db.select().from(groupMembers).orderBy(groupMembers.groupId, groupMembers.userId),
    storedLog(core.db),
  ])

const userOf = async (email: string) => {
  const [row] = await core.db.select().from(users).where(eq(users.email, email))
  if (!row) throw new Error(`there is no user ${email}`)
  return row
}
const groupsOf = async (email: string) => {
  const { id } = await userOf(email)
  const rows = await core.db
    .select({ name: groups.name })
    .from(groups)
    .innerJoin(groupMembers, eq(groupMembers.groupId, groups.id))
    .where(eq(groupMembers.userId, id))
    .orderBy(groups.name)
  return rows.map(({ name }) => name)
}

const FILE = [
  'email,given_name,family_name,status,manager_email,groups,Department',
  'eva@example.com,Eva,Eins,,max@example.com,Engineering; On call,R&D',
  'max@example.com,Max,"Muster, ""Maxi""",staged,,Engineering,"=cmd()"',
  '',
].join('\n')

describe('a first file', () => {
  test('is only compared in a dry run', async () => {
    const before = await snapshot()
    const { status, body } = await dryRun(FILE)
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        dry_run: true,
        rows: 2,
        added: 2,
        added_emails: ['eva@example.com', 'max@example.com'],
        changed: 0,
        changed_fields: {},
        changed_people: [],
        unchanged: 0,
        groups_made: 2,
        group_names: ['Engineering', 'On call'],
        memberships_added: 3,
        memberships_removed: 0,
      },
    })
    expect(await snapshot()).toEqual(before)
  })

  test('creates people, managers, attributes and groups', async () => {
    const { status, body } = await send(FILE, '?file_name=people.csv')
    expect(status).toBe(200)
    expect(body).toMatchObject({ dry_run: false, added: 2, groups_made: 2, memberships_added: 3 })
    const [eva, max] = [await userOf('eva@example.com'), await userOf('max@example.com')]
    expect(eva).toMatchObject({ givenName: 'Eva', status: 'ACTIVE', managerId: max.id })
    expect(eva.customAttributes).toEqual({ Department: { type: 'TEXT', value: 'R&D' } })
    // Stored unchanged: only a spreadsheet would treat it as a formula.
    expect(max.customAttributes).toEqual({ Department: { type: 'TEXT', value: '=cmd()' } })
    expect(max).toMatchObject({ familyName: 'Muster, "Maxi"', status: 'STAGED', managerId: null })
    expect(await groupsOf('eva@example.com')).toEqual(['Engineering', 'On call'])
  })

  test('is logged once, with counts and the name of the file', async () => {
    const { items } = (await core.call('GET', '/activity_logs')).body
    expect(
      items.filter((one: { event_type: string }) => one.event_type === 'PEOPLE_IMPORTED'),
    ).toMatchObject([
      {
        actor: { email: 'admin@localhost' },
        event_metadata: { file_name: 'people.csv', rows: 2, added: 2, changed: 0 },
      },
    ])
  })

  test('sent again changes nothing', async () => {
    const [before] = await snapshot()
    expect((await send(FILE)).body).toMatchObject({
      added: 0,
      changed: 0,
      unchanged: 2,
      groups_made: 0,
      memberships_added: 0,
      memberships_removed: 0,
    })
    expect((await snapshot())[0]).toEqual(before)
  })
})

describe('a later file', () => {
  test('matches emails case-insensitively, leaves fields without a column, and clears empty cells', async () => {
    const max = await userOf('max@example.com')
    const { body } = await send('Email,family_name,manager_email\nEVA@example.com,,\n')
    expect(body).toMatchObject({
      added: 0,
      changed: 1,
      changed_fields: { email: 1, family_name: 1, manager_email: 1 },
      changed_people: [
        { email: 'EVA@example.com', fields: ['email', 'family_name', 'manager_email'] },
      ],
    })
    expect(await userOf('EVA@example.com')).toMatchObject({
      givenName: 'Eva',
      familyName: '',
      managerId: null,
    })
    expect(await userOf('max@example.com')).toEqual(max)
    expect(await groupsOf('EVA@example.com')).toEqual(['Engineering', 'On call'])
  })

  test('reports the attributes that change, and keeps the others', async () => {
    const { body } = await send('email,Site,Department\neva@example.com,Berlin,R&D\n')
    expect(body.changed_people).toEqual([{ email: 'eva@example.com', fields: ['email', 'Site'] }])
    expect((await send('email,Site\neva@example.com,\n')).body.changed_fields).toEqual({ Site: 1 })
    expect((await userOf('eva@example.com')).customAttributes).toEqual({
      Department: { type: 'TEXT', value: 'R&D' },
      Site: { type: 'TEXT', value: '' },
    })
  })

  test('replaces the native memberships of the people that it lists, and of no others', async () => {
    const { body } = await send('email,groups\neva@example.com,Sales;Engineering;Sales\n')
    expect(body).toMatchObject({
      changed: 1,
      changed_fields: { groups: 1 },
      groups_made: 1,
      memberships_added: 1,
      memberships_removed: 1,
    })
    expect(await groupsOf('eva@example.com')).toEqual(['Engineering', 'Sales'])
    expect(await groupsOf('max@example.com')).toEqual(['Engineering'])
    expect((await send('email,groups\neva@example.com,\n')).body.memberships_removed).toBe(2)
    expect(await groupsOf('eva@example.com')).toEqual([])
  })

  test('matches group names case-insensitively, but prefers an exact match', async () => {
    const { domainId } = await userOf('eva@example.com')
    await core.db.insert(groups).values({ domainId, name: 'Support' })
    const file =
      'email,groups\neva@example.com,support; Night SHIFT\nmax@example.com,SUPPORT;Engineering;Night shift\n'
    const { body } = await send(file)
    expect(body).toMatchObject({ groups_made: 1, group_names: ['Night SHIFT'] })
    expect(body).toMatchObject({ memberships_added: 4, memberships_removed: 0 })
    expect(await groupsOf('eva@example.com')).toEqual(['Night SHIFT', 'Support'])
    expect((await send(file)).body).toMatchObject({ changed: 0, groups_made: 0 })
    await core.db.insert(groups).values({ domainId, name: 'support' })
    const both = await send('email,groups\neva@example.com,Support;support;SUPPORT\n')
    expect(both.body).toMatchObject({ memberships_added: 1, memberships_removed: 1 })
    expect(await groupsOf('eva@example.com')).toEqual(['Support', 'support'])
    await send('email,groups\neva@example.com,\nmax@example.com,Engineering\n')
  })

  test('keeps memberships that an app synced', async () => {
    const { id: userId, domainId } = await userOf('eva@example.com')
    const [synced] = await core.db
      .insert(groups)
      .values({ domainId, name: 'Synced', appId: '00000000-0000-4000-8000-000000000001' })
      .returning()
    await core.db.insert(groupMembers).values({ domainId, groupId: synced?.id ?? '', userId })
    expect((await send('email,groups\neva@example.com,\n')).body.changed).toBe(0)
    expect(await groupsOf('eva@example.com')).toEqual(['Synced'])
    await core.db.delete(groups).where(eq(groups.id, synced?.id ?? ''))
  })

  test('does not see people and groups of another domain', async () => {
    const domainId = await otherDomain(core.db)
    const theirs = await person(core.db, 'theirs@example.com', [], domainId)
    await core.db.insert(groups).values({ domainId, name: 'Theirs' })
    const { body } = await dryRun('email,groups\ntheirs@example.com,Theirs\n')
    expect(body).toMatchObject({ added: 1, groups_made: 1 })
    const manager = await dryRun('email,manager_email\neva@example.com,theirs@example.com\n')
    expect(manager.status).toBe(422)
    await core.db.delete(users).where(eq(users.id, theirs.id))
  })
})

describe('a file is accepted', () => {
  test.each([
    ['with a byte order mark', '\ufeffemail\na1@example.com\n'],
    ['with line ends of Windows', 'email\r\na1@example.com\r\n'],
    ['with mixed line ends', 'email\r\na1@example.com\n'],
    ['without a line end at its end', 'email\na1@example.com'],
    ['with empty lines', '\nemail\n\na1@example.com\n\n'],
    ['with spaces around its values', ' email , given_name\n a1@example.com , A \n'],
  ])('%s', async (_name, csv) => {
    expect((await dryRun(csv)).body).toMatchObject({ rows: 1, added_emails: ['a1@example.com'] })
  })

  test('with only a header', async () => {
    expect((await dryRun('email\n')).body).toMatchObject({ rows: 0, added: 0 })
  })
})

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)))

describe('a file is refused as a whole, with line, column and advice, because of', () => {
  test.each<[string, string | Uint8Array, [number, string | null, RegExp][]]>([
    ['no content', '', [[1, null, /empty/]]],
    ['only line ends', '\n\n', [[1, null, /empty/]]],
    ['a byte that is not UTF-8', bytes('email\na@b.c\n', [0xe9], '@b.c\n'), [[3, null, /UTF-8/]]],
    ['UTF-16', Buffer.from('\ufeffemail\na@b.c\n', 'utf16le'), [[1, null, /UTF-8/]]],
    ['no e-mail column', 'given_name\nEva\n', [[1, 'email', /missing/]]],
    [
      'semicolons as separators',
      'email;given_name\na@b.c;Eva\n',
      [[1, 'email', /separated by ";"/]],
    ],
    ['a duplicate column', 'email,Site,Site\na@b.c,1,2\n', [[1, '"Site"', /twice/]]],
    [
      'a duplicate known column in another case',
      'email,Email\na@b.c,x\n',
      [[1, '"Email"', /twice/]],
    ],
    ['a column without a name', 'email,\na@b.c,1\n', [[1, 'column 2', /name the column/]]],
    ['a column __proto__', 'email,__proto__\na@b.c,1\n', [[1, '"__proto__"', /reserved/]]],
    ['a column constructor', 'email,constructor\na@b.c,1\n', [[1, '"constructor"', /reserved/]]],
    ['300 columns', `email${',x'.repeat(299)}\n`, [[1, null, /300 columns/]]],
    [
      'a duplicate address in another case',
      'email\na@b.c\nx@b.c\nA@b.c\n',
      [[4, 'email', /line 2/]],
    ],
    ['an invalid address', 'email\nEva\n', [[2, 'email', /not an e-mail/]]],
    ['an empty address', 'email,given_name\n,Eva\n', [[2, 'email', /empty/]]],
    ['an address with a line end', 'email\n"a@b.c\nx"\n', [[2, 'email', /not an e-mail/]]],
    [
      'an unknown status',
      'email,status\na@b.c,FIRED\n',
      [[2, 'status', /not one of STAGED, ACTIVE/]],
    ],
    ['an unknown manager', 'email,manager_email\na@b.c,x@b.c\n', [[2, 'manager_email', /neither/]]],
    [
      'a person as their own manager',
      'email,manager_email\na@b.c,A@b.c\n',
      [[2, 'manager_email', /themselves/]],
    ],
    ['too many cells', 'email,Site\na@b.c,Berlin, Mitte\n', [[2, null, /3 cells.*quotes/]]],
    ['too few cells', 'email,Site\na@b.c\n', [[2, null, /1 cells.*empty cell/]]],
    ['an unclosed quote', 'email,Site\na@b.c,x\nb@b.c,"y\nc@b.c,z\n', [[3, null, /never closed/]]],
    ['a quote in the middle', 'email,Site\na@b.c,x "y"\n', [[2, null, /quote in the middle/]]],
    ['NUL in a cell', 'email,Site\na@b.c,x\0y\n', [[2, 'Site', /NUL/]]],
    [
      'NUL in an address',
      'email\na\0@b.c\n',
      [
        [2, 'email', /NUL/],
        [2, 'email', /not an e-mail/],
      ],
    ],
    [
      'a large cell',
      `email,Site\na@b.c,${'x'.repeat(20_000)}\n`,
      [[2, 'Site', /20000 characters/]],
    ],
    [
      'a huge cell',
      `email,Site\na@b.c,"${'x\n'.repeat(300_000)}"\n`,
      [[2, null, /more than 262144/]],
    ],
    ['a huge line', `email,Site\na@b.c,${'x'.repeat(600_000)}\n`, [[2, null, /262144/]]],
    [
      'a group name that is too long',
      `email,groups\na@b.c,${'x'.repeat(300)}\n`,
      [[2, 'groups', /255/]],
    ],
    [
      'several errors',
      'email,status\nEva,x\na@b.c,y\n',
      [
        [2, 'email', /not an e-mail/],
        [2, 'status', /not one of/],
        [3, 'status', /not one of/],
      ],
    ],
  ])('%s', async (_name, csv, expected) => {
    const before = await snapshot()
    const { status, body } = await send(csv)
    expect(status).toBe(422)
    expect(body.error.error_code).toBe('bad_request')
    const { findings, total } = body.raw_data
    expect(
      findings.map(({ line, column }: { line: number; column: string }) => [line, column]),
    ).toEqual(expected.map(([line, column]) => [line, column]))
    for (const [at, [, , words]] of expected.entries()) expect(findings[at].problem).toMatch(words)
    expect(total).toBe(expected.length)
    expect(await snapshot()).toEqual(before)
  })

  test('a cycle of managers, also through people who are not in the file', async () => {
    await send('email,manager_email\ntop@b.c,\nmid@b.c,top@b.c\nlow@b.c,mid@b.c\n')
    const circle = await send('email,manager_email\ntop@b.c,low@b.c\n')
    expect(circle.status).toBe(422)
    expect(circle.body.raw_data.findings).toEqual([
      {
        line: 2,
        column: 'manager_email',
        problem: expect.stringMatching(/cycle: .*top@b\.c.* → .*low@b\.c/),
      },
    ])
    const inside = await send('email,manager_email\nx1@b.c,x2@b.c\nx2@b.c,x3@b.c\nx3@b.c,x1@b.c\n')
    expect(inside.body.raw_data.findings[0].problem).toMatch(/cycle: (x\d@b\.c → ){3}x\d@b\.c;/)
  })

  test('a cycle of 12,000 managers', async () => {
    const n = 12_000
    const rows = Array.from({ length: n }, (_, at) => `c${at}@b.c,c${(at + 1) % n}@b.c\n`)
    const { status, body } = await send(`email,manager_email\n${rows.join('')}`)
    expect(status).toBe(422)
    expect(body.raw_data.findings[0].problem).toMatch(/cycle: (c\d+@b\.c → ){10}…;/)
    // The same people without the last link are no cycle.
    rows.pop()
    const line = await dryRun(`email,manager_email\n${rows.join('')}c${n - 1}@b.c,\n`)
    expect(line).toMatchObject({ status: 200, body: { added: n } })
  })

  test('more than twenty findings: twenty are listed, and the rest are counted', async () => {
    const rows = Array.from({ length: 50 }, (_, n) => `n${n}\n`).join('')
    const { body } = await send(`email\n${rows}`)
    expect(body.raw_data).toMatchObject({ total: 50 })
    expect(body.raw_data.findings).toHaveLength(20)
    expect(body.error.message).toMatch(/and 30 more$/)
    const doubled = await send(`email\n${'a@b.c\n'.repeat(51)}`)
    expect(doubled.body.raw_data).toMatchObject({ total: 50 })
  })

  test('a suspension of the last admin', async () => {
    for (const status of ['SUSPENDED', 'INACTIVE']) {
      const refused = await send(`email,status\nnew@b.c,ACTIVE\nadmin@localhost,${status}\n`)
      expect(refused).toMatchObject({
        status: 409,
        body: { error: { message: expect.stringMatching(/Admin/) } },
      })
    }
    expect((await core.call('GET', '/users?search_term=new%40b.c')).body.total).toBe(0)
    const boss = await person(core.db, 'boss@b.c', ['Admin'])
    expect((await send('email,status\nadmin@localhost,SUSPENDED\n')).status).toBe(200)
    // An admin who cannot sign in does not count as a remaining admin.
    const last = await core.call('DELETE', `/users/${boss.id}/roles/Admin`, { token: boss.token })
    expect(last.status).toBe(409)
    expect((await send('email,status\nboss@b.c,INACTIVE\n')).status).toBe(409)
    expect((await send('email,status\nadmin@localhost,ACTIVE\nboss@b.c,INACTIVE\n')).status).toBe(
      200,
    )
  })
})

describe('the import call', () => {
  test.each([
    ['a request without a content type', ''],
    ['JSON', 'application/json'],
    ['another character set', 'text/csv; charset=latin1'],
    ['an unknown content type that begins with text/csv', 'text/csvx'],
  ])('refuses %s', async (_name, type) => {
    expect((await send('email\n', '', { 'content-type': type })).status).toBe(415)
  })

  test('accepts the content type with a character set', async () => {
    expect(
      (await send('email\n', '?dry_run=1', { 'content-type': 'text/csv; charset=UTF-8' })).status,
    ).toBe(200)
  })

  test('refuses an invalid value of dry_run', async () => {
    const { status, body } = await send('email\nzz@b.c\n', '?dry_run=maybe')
    expect({ status, words: body.error.message }).toEqual({
      status: 422,
      words: expect.stringMatching(/dry_run/),
    })
  })

  test('refuses a body that is too large according to its Content-Length', async () => {
    const answer = await send('email\n', '', { 'content-length': String(257 * 1024 * 1024) })
    expect(answer.status).toBe(413)
  })

  test('imports nothing from a truncated body', async () => {
    const before = await snapshot()
    const answer = await send('email\ncut@b.c\n', '', { 'content-length': '1000' })
    expect(answer.body.is_error).toBe(true)
    expect(await snapshot()).toEqual(before)
  })

  test('imports each person once when several calls run at the same time', async () => {
    const csv = `email\n${Array.from({ length: 3000 }, (_, n) => `many${n}@b.c\n`).join('')}`
    const answers = await Promise.all([send(csv), send(csv), send(csv)])
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses[0]).toBe(200)
    expect(statuses.filter((status) => ![200, 409].includes(status))).toEqual([])
    const { rows } = await core.db.execute(
      sql`select count(*)::int as n from users where email like 'many%'`,
    )
    expect(rows[0]).toEqual({ n: 3000 })
  })

  test('is refused to readers, and takes only POST', async () => {
    const reader = await person(core.db, 'import-reader@b.c', ['Read Only Admin'])
    const options = { token: reader.token, raw: 'email\n', headers: { 'content-type': 'text/csv' } }
    expect((await core.call('POST', '/operator/users/import', options)).status).toBe(403)
    const wrong = await core.call('GET', '/operator/users/import')
    expect(wrong.status).toBe(405)
    expect(wrong.headers.get('allow')).toBe('POST')
  })
})
