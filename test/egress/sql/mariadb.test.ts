/** `ctx.sql` through the egress, against a real MariaDB. */
import mysql from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { errorOf, openedEgresses } from '../fixtures/open-egress.ts'
import { sql } from './database.ts'
import { type MariadbServer, mariadbEgress, noMariadb, startMariadb } from './mariadb.ts'

const NUMBERS =
  'with recursive s(n) as (select 1 union all select n + 1 from s where n < $1) select n from s'
const STATEMENTS = {
  crowd: { text: 'select seq as n from seq_1_to_100000', reads: true },
  joined: {
    text: 'select group_concat(seq order by seq) as all_of_them from seq_1_to_5',
    reads: true,
  },
  numbers: { text: NUMBERS, parameters: ['integer' as const], reads: true },
  echo: {
    text: 'select $1 a, $2 b, $3 c, $4 d, $5 e, $1 f',
    parameters: [
      'string' as const,
      'integer' as const,
      'number' as const,
      'boolean' as const,
      'strings' as const,
    ],
    reads: true,
  },
  limited: {
    text: 'select id from sales.orders order by id limit $1',
    parameters: ['integer' as const],
    reads: true,
  },
  values_text: { text: 'select * from sales.every', reads: true },
  values_binary: {
    text: 'select * from sales.every where small > $1',
    parameters: ['integer' as const],
    reads: true,
  },
  finer_text: { text: 'select * from sales.finer', reads: true },
  finer_binary: {
    text: 'select * from sales.finer where id > $1',
    parameters: ['integer' as const],
    reads: true,
  },
  described: { text: 'describe sales.notes', reads: true },
  shown: { text: "show tables like 'notes'", reads: true },
  many: {
    text: `select repeat('x', 1024 * 1024) from (${NUMBERS}) s`,
    parameters: ['integer' as const],
    reads: true,
  },
  lies: { text: "insert into sales.notes values ('written')", reads: true },
  lies_hidden: {
    text: "with x as (select 'written' as n) insert into sales.notes select n from x",
    reads: true,
  },
  lies_by_function: { text: 'select sales.writes()', reads: true },
  lies_to_file: { text: "select 'written' into outfile '/tmp/keyway-written'", reads: true },
  session: { text: 'set session transaction read write' },
  keeps: { text: 'call sales.keeps()' },
  kept: {
    text: "select @@sql_mode mode, @@max_statement_time > 0 limited, @secret secret, is_used_lock('kept') held, @@tx_read_only reads_only, @@time_zone zone, connection_id() id",
    reads: true,
  },
  temporary: { text: 'select * from sales.left_behind', reads: true },
  sleeps: { text: 'select sleep(30)', reads: true },
  twice: { text: 'select 1 as id, 2 as id union select 3, 4 union select 5, 6', reads: true },
  notes: { text: 'select note from sales.notes order by note', reads: true },
  keep: {
    text: '/* $1 stays */ delete from sales.notes where note <> $1 -- all but $1\n',
    parameters: ['string' as const],
  },
  note: { text: 'insert into sales.notes values ($1)', parameters: ['string' as const] },
  note_twice: {
    text: 'insert into sales.notes values ($1) returning note, note',
    parameters: ['string' as const],
  },
  create_user: {
    text: 'create user {identifier:user}@{identifier:host} identified by {password:password}',
  },
  drop_user: { text: 'drop user {identifier:user}@{identifier:host}' },
  grant_role: { text: 'grant {identifier:role} to {identifier:user}@{identifier:host}' },
  literal: { text: 'select {literal:text} as said', reads: true },
  named: { text: 'select 1 as {identifier:name}', reads: true },
  no_table: { text: 'select 1 from no_such_table', reads: true },
  wrong: { text: 'select from', reads: true },
  locks: {
    text: 'update sales.notes set note = note where note = $1',
    parameters: ['string' as const],
  },
}

describe.skipIf(noMariadb !== null)(`MariaDB${noMariadb ? `: ${noMariadb}` : ''}`, () => {
  let server: MariadbServer
  let admin: mysql.Connection

  beforeAll(async () => {
    server = await startMariadb()
    const { host, port } = server
    admin = await mysql.createConnection({
      host,
      port,
      user: 'admin',
      password: 'admin-secret-1',
      multipleStatements: true,
    })
    await admin.query(`create table sales.notes (note varchar(100) primary key);
      create table sales.every (small tinyint, whole int, \`big\` bigint unsigned, exact decimal(30, 5),
        about double, bytes varbinary(8), at datetime(3), stamp timestamp null, on_day date, during time,
        text_ text character set utf8mb4, data json, flag bit(1), year_ year, \`__proto__\` int);
      insert into sales.every values (7, -2147483648, 18446744073709551615, '12345678901234567890.5', 0.1, x'00ff',
        '2026-01-31 23:59:59.5', '2026-01-31 12:00:00', '2026-01-31', '-25:00:01', 'jürgen 🚀', '{"a":1}', b'1', 2026, 1),
        (8, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
      create table sales.finer (id int, real_ float, fixed float(9, 3), whole float, at datetime(3), stamp timestamp(6) null,
        during time, during_ time(3), zero datetime, no_day date);
      set sql_mode = '';
      insert into sales.finer values (1, 0.1, 1.005, 16777215, '2026-01-31 12:00:00', '2026-01-31 12:00:00', '10:00:00', '10:00:00.5', '0000-00-00', '2026-00-00'),
        (2, 3.4028235e38, 999999.9, -8388607.5, '2026-01-31 12:00:00.12', '2026-01-31 12:00:00.1', '-838:59:59', '-00:00:00.25', '2026-00-01 01:00:00', '0000-00-00');
      create function sales.writes() returns int begin insert into sales.notes values ('by function'); return 1; end;
      grant execute on function sales.writes to connector@'%';
      create procedure sales.keeps() begin
        set session sql_mode = '', session max_statement_time = 0, session time_zone = '+05:00', @secret = 'of another';
        set session tx_read_only = 0;
        do get_lock('kept', 0);
        create temporary table sales.left_behind (a int);
        start transaction;
        insert into sales.notes values ('left open');
      end;
      grant file on *.* to connector@'%';
      grant execute on procedure sales.keeps to connector@'%'; grant create temporary tables on sales.* to connector@'%'`)
  })
  afterEach(async () => {
    for (const client of openedEgresses.splice(0)) await client.close()
  })
  afterAll(async () => {
    await admin?.end()
    await server?.stop()
  })

  type More = Omit<Parameters<typeof mariadbEgress>[1], 'statements'>
  const client = (more: More = {}) => mariadbEgress(server, { statements: STATEMENTS, ...more })
  const ask = async (method: string, body: object, through = client()) =>
    JSON.parse(String((await through.fetch(sql(method, body))).body))
  const query = async (statement: string, parameters: unknown[] = [], through = client()) =>
    (await ask('QUERY', { statement, parameters }, through)).rows
  const execute = (statement: string, names: object = {}, parameters: unknown[] = []) =>
    ask('EXECUTE', { statement, names, parameters })
  const refused = async (statement: string, parameters: unknown[] = [], more: More = {}) =>
    errorOf(query(statement, parameters, client(more)))

  test('executes a statement that returns rows, even if two columns have the same name', async () => {
    const step = (note: string) => ({ statement: 'note_twice', parameters: [note] })
    expect(await ask('EXECUTE', step('twice 1'))).toEqual({ touched: [1] })
    const steps = [step('twice 2'), step('twice 3')]
    expect(await ask('TRANSACTION', { steps })).toEqual({ touched: [1, 1] })
    await admin.query("delete from sales.notes where note like 'twice%'")
  })

  test('treats a parameter as a value and nothing else', async () => {
    const value = "x'; drop table notes; -- \\"
    const [row] = await query('echo', [value, 2 ** 53 - 1, 0.5, true, ['a', '"']])
    expect(row).toMatchObject({ a: value, b: '9007199254740991', c: 0.5, d: 1, e: '["a","\\""]' })
    expect(row.f).toBe(value)
    expect(await query('limited', [1])).toEqual([{ id: 1 }])
    expect(await query('echo', [null, null, null, null, null])).toEqual([
      { a: null, b: null, c: null, d: null, e: null, f: null },
    ])
  })

  test.each([{}, { page: { size: 1 } }])(
    'refuses rows with two columns of the same name, and serves the next query: %j',
    async (more) => {
      const through = client()
      const error = await errorOf(
        ask('QUERY', { statement: 'twice', parameters: [], ...more }, through),
      )
      expect([error.code, error.message]).toEqual([
        'context_misused',
        'The statement twice gives two columns named id: give one of them another name with "as"',
      ])
      expect(await query('notes', [], through)).toEqual([])
    },
  )

  test.each(['values_text', 'values_binary'])('preserves every value: %s', async (statement) => {
    const through = client()
    const rows = await query(statement, statement === 'values_text' ? [] : [0], through)
    expect(Object.entries(rows[0])).toEqual([
      ['small', 7],
      ['whole', -2147483648],
      ['big', '18446744073709551615'],
      ['exact', '12345678901234567890.50000'],
      ['about', 0.1],
      ['bytes', 'AP8='],
      ['at', '2026-01-31T23:59:59.500'],
      ['stamp', expect.stringMatching(/^2026-01-31T\d\d:00:00Z$/)],
      ['on_day', '2026-01-31'],
      ['during', '-25:00:01'],
      ['text_', 'jürgen 🚀'],
      ['data', '{"a":1}'],
      ['flag', 'AQ=='],
      ['year_', 2026],
      ['__proto__', 1],
    ])
    const { small, ...others } = rows[1]
    expect([small, new Set(Object.values(others))]).toEqual([8, new Set([null])])
    expect(through.records).toMatchObject([{ method: 'QUERY', path: `/${statement}`, status: 200 }])
  })

  test('returns the same values with parameters and without', async () => {
    const text = await query('finer_text')
    expect(text).toEqual(await query('finer_binary', [0]))
    const [one, two] = text.map((row: object) => Object.values(row))
    expect(one).toEqual([
      ...[1, 0.1, 1.005, 16777215, '2026-01-31T12:00:00', '2026-01-31T12:00:00Z'],
      ...['10:00:00', '10:00:00.5', '0000-00-00 00:00:00', '2026-00-00'],
    ])
    expect(two).toEqual([
      ...[2, 3.4028235e38, 999999.9, -8388607.5],
      ...['2026-01-31T12:00:00.120', '2026-01-31T12:00:00.100000Z'],
      ...['-838:59:59', '-00:00:00.25', '2026-00-01 01:00:00', '0000-00-00'],
    ])
    expect(await query('described')).toMatchObject([{ Field: 'note' }])
    expect(await query('shown')).toHaveLength(1)
  })

  test('returns all rows, even if the server limits those of a session', async () => {
    await admin.query('set global sql_select_limit = 3')
    const through = client()
    const rows = await query('numbers', [10], through)
    const page = { size: 8, cursor: null }
    const first = await ask('QUERY', { statement: 'numbers', parameters: [10], page }, through)
    await admin.query('set global sql_select_limit = 18446744073709551615')
    expect([rows.length, first.rows.length]).toEqual([10, 8])
  })

  test('returns whole lists of values, even if the server cuts them', async () => {
    await admin.query('set global group_concat_max_len = 4')
    const [row] = await query('joined')
    await admin.query('set global group_concat_max_len = default')
    expect(row).toEqual({ all_of_them: '1,2,3,4,5' })
  })

  test('reads a large result in pages, and serves other queries between them', async () => {
    const through = client()
    const body = { statement: 'numbers', parameters: [900] }
    const found: number[] = []
    let cursor: string | null = null
    do {
      const page = { size: 200, cursor }
      const read: { rows: { n: number }[]; cursor: string | null } = await ask(
        'QUERY',
        { ...body, page },
        through,
      )
      found.push(...read.rows.map(({ n }) => Number(n)))
      cursor = read.cursor
      expect(await query('limited', [1], through)).toHaveLength(1)
    } while (cursor !== null)
    expect(found).toEqual(Array.from({ length: 900 }, (_, index) => index + 1))
    const first = await ask('QUERY', { ...body, page: { size: 10 } }, through)
    await ask('QUERY', { ...body, page: { size: 10, cursor: first.cursor } }, through)
    const again = ask('QUERY', { ...body, page: { size: 10, cursor: first.cursor } }, through)
    expect((await errorOf(again)).details.wire).toBe('invalid_page_token')
  })

  test('refuses a cursor for another statement', async () => {
    const through = client()
    const body = { statement: 'numbers', parameters: [900] }
    const { cursor } = await ask('QUERY', { ...body, page: { size: 10 } }, through)
    const page = { size: 10, cursor }
    const other = ask('QUERY', { statement: 'limited', parameters: [1], page }, through)
    expect((await errorOf(other)).details.wire).toBe('invalid_page_token')
    expect(await query('limited', [1], through)).toHaveLength(1)
  })

  test('reads a snapshot of a hundred thousand rows in pages, and refuses to read it at once', async () => {
    const through = client({ requestsPerSecond: 1000, ceilings: { maxRequestsPerSecond: 1000 } })
    const error = await errorOf(ask('QUERY', { statement: 'crowd' }, through))
    expect([error.code, error.message]).toEqual([
      'upstream_too_large',
      expect.stringMatching(/read it in pages/),
    ])
    const found: number[] = []
    let cursor: string | null = null
    do {
      const page = { size: 1000, cursor }
      const read = await ask('QUERY', { statement: 'crowd', page }, through)
      found.push(...read.rows.map(({ n }: { n: string }) => Number(n)))
      cursor = read.cursor
    } while (cursor !== null)
    expect([new Set(found).size, found.at(-1)]).toEqual([100_000, 100_000])

    await admin.query(
      "insert into sales.notes select concat('n', lpad(seq, 2, '0')) from sales.seq_1_to_30",
    )
    const first = await ask('QUERY', { statement: 'notes', page: { size: 10 } }, through)
    await admin.query("delete from sales.notes; insert into sales.notes values ('n15')")
    const page = { size: 30, cursor: first.cursor }
    const rest = await ask('QUERY', { statement: 'notes', page }, through)
    expect(rest.rows.map(({ note }: { note: string }) => note)).toEqual(
      Array.from({ length: 20 }, (_, n) => `n${n + 11}`),
    )
    await admin.query('delete from sales.notes')
  })

  test('serves a query while all connections hold unread results', async () => {
    const through = client()
    const body = { statement: 'numbers', parameters: [900], page: { size: 10 } }
    await Promise.all(Array.from({ length: 8 }, () => ask('QUERY', body, through)))
    expect(await query('limited', [1], through)).toHaveLength(1)
  })

  test('refuses a result of fifty megabytes', async () => {
    expect((await refused('many', [50])).code).toBe('upstream_too_large')
  })

  test.each([
    ['lies', 'egress_undeclared', null],
    ['lies_hidden', 'database_refused', '1064'],
    ['lies_by_function', 'database_refused', '1792'],
    ['lies_to_file', 'egress_undeclared', null],
  ])('refuses a write by a statement that is declared to read: %s', async (name, code, errno) => {
    const error = await refused(name)
    expect([error.code, error.details.appErrorCode ?? null]).toEqual([code, errno])
    expect(await query('notes')).toEqual([])
  })

  test('executes no statement that was declared to read', async () => {
    const one = { statement: 'lies_by_function', parameters: [] }
    expect((await errorOf(ask('EXECUTE', one))).code).toBe('context_misused')
    expect((await errorOf(ask('TRANSACTION', { steps: [one] }))).code).toBe('context_misused')
    expect(await query('notes')).toEqual([])
  })

  test('does not count a parameter in a comment', async () => {
    await admin.query("insert into sales.notes values ('ada'), ('bob')")
    expect(await execute('keep', {}, ['ada'])).toEqual({ touched: [1] })
    expect(await query('notes')).toEqual([{ note: 'ada' }])
    await admin.query('delete from sales.notes')
  })

  test('refuses a statement that changes the session', async () => {
    expect((await errorOf(execute('session'))).code).toBe('egress_undeclared')
  })

  test('leaves no state in the session, even after a procedure that changes it', async () => {
    const through = client()
    const [before] = await query('kept', [], through)
    expect(before).toMatchObject({
      secret: null,
      held: null,
      limited: 1,
      reads_only: '1',
      zone: '+00:00',
    })
    expect(before.mode).toContain('NO_BACKSLASH_ESCAPES')
    await ask('EXECUTE', { statement: 'keeps' }, through)
    expect(await query('kept', [], through)).toEqual([before])
    expect((await errorOf(query('temporary', [], through))).details.appErrorCode).toBe('1146')
    expect((await errorOf(query('lies_by_function', [], through))).details.appErrorCode).toBe(
      '1792',
    )
    expect(await query('kept', [], through)).toEqual([before])
    expect(await query('notes')).toEqual([])
  })

  test('writes, runs a transaction completely or not at all, and serves requests after a refusal', async () => {
    const through = client()
    const steps = ['a', 'b', 'a'].map((note) => ({ statement: 'note', parameters: [note] }))
    const error = await errorOf(ask('TRANSACTION', { steps }, through))
    expect(error.details).toMatchObject({ wire: 'bad_request', appErrorCode: '1062' })
    expect(await query('notes', [], through)).toEqual([])
    expect(await ask('TRANSACTION', { steps: steps.slice(0, 2) }, through)).toEqual({
      touched: [1, 1],
    })
    expect(await query('notes', [], through)).toEqual([{ note: 'a' }, { note: 'b' }])
    const body = { statement: 'locks', parameters: ['a'] }
    const both = await Promise.all([ask('EXECUTE', body, through), ask('EXECUTE', body, through)])
    expect(both).toEqual([{ touched: [1] }, { touched: [1] }])
    await admin.query('delete from sales.notes')
  })

  test.each(["o'brien; drop user x", '"', '`', 'back\\slash', ' leading', 'x@y', '?', 'jürgen'])(
    'creates a user with any name, who can log in with the password: %j',
    async (user) => {
      const password = `pass1'"\\ \` ${user}`
      const names = { user, host: '%' }
      await execute('create_user', { ...names, password })
      await execute('grant_role', { ...names, role: 'role_reader' })
      const as = { user: { username: user, password }, entry: { database: 'information_schema' } }
      const body = { statement: 'literal', names: { text: user } }
      expect((await ask('QUERY', body, client(as))).rows).toEqual([{ said: user }])
      const twice = await errorOf(execute('create_user', { ...names, password }))
      expect(twice.details).toMatchObject({ wire: 'bad_request', appErrorCode: '1396' })
      await execute('drop_user', names)
    },
  )

  const narrow = { username: 'narrow', password: 'narrow-1' }
  const nowhere = { entry: { database: 'information_schema' } }
  test.each<[string, string, string, string, More?]>([
    [
      'a wrong password',
      'limited',
      'unauthenticated',
      '1045',
      { user: { username: 'connector', password: 'x' } },
    ],
    [
      'an unknown user',
      'limited',
      'unauthenticated',
      '1045',
      { user: { username: 'nobody', password: 'x' } },
    ],
    [
      'a locked account',
      'limited',
      'unauthenticated',
      '4151',
      { user: { username: 'user010', password: 'pw-010' }, ...nowhere },
    ],
    [
      'an expired password',
      'limited',
      'unauthenticated',
      '1820',
      { user: { username: 'user030', password: 'pw-030' }, ...nowhere },
    ],
    [
      'a database without a grant',
      'limited',
      'permission_denied',
      '1044',
      { entry: { database: 'finance' } },
    ],
    [
      'too few rights',
      'limited',
      'permission_denied',
      '1142',
      { user: { username: 'reader', password: 'reader-1' }, entry: { database: 'mysql' } },
    ],
    ['an unknown table', 'no_table', 'client_call_error', '1146'],
    ['invalid SQL', 'wrong', 'client_call_error', '1064'],
  ])('reports %s by its number', async (_what, name, wire, code, more = {}) => {
    const error = await refused(name, name === 'limited' ? [1] : [], more)
    expect(error.details).toMatchObject({ wire, appErrorCode: code })
  })

  test('reports too many connections, and a password against the policy, by their numbers', async () => {
    const held = await mysql.createConnection({
      host: server.host,
      port: server.port,
      user: narrow.username,
      password: narrow.password,
    })
    const error = await refused('literal', [], { user: narrow, ...nowhere })
    await held.end()
    expect(error.details).toMatchObject({ wire: 'rate_limit', appErrorCode: '1226' })
    const weak = await errorOf(execute('create_user', { user: 'x', host: '%', password: 'short' }))
    expect(weak.details).toMatchObject({ wire: 'invalid_value', appErrorCode: '1819' })
    const odd = await errorOf(ask('QUERY', { statement: 'named', names: { name: '🚀' } }))
    expect(odd.details).toMatchObject({ wire: 'invalid_value', appErrorCode: '1300' })
  })

  const running = async () => {
    const [rows] = await admin.query<mysql.RowDataPacket[]>(
      "select count(*) n from information_schema.processlist where user = 'connector' and info like '%sleep%'",
    )
    return rows[0]?.['n']
  }

  test('cancels a statement on the server when its call has ended', async () => {
    const ending = new AbortController()
    const failed = errorOf(
      client({ call: { signal: ending.signal } }).fetch(sql('QUERY', { statement: 'sleeps' })),
    )
    await expect.poll(running).toBe(1)
    ending.abort()
    expect((await failed).code).toBe('upstream_timeout')
    await expect.poll(running).toBe(0)
  })

  test('lets the server end a statement that outlasts its call', async () => {
    const error = await refused('sleeps', [], { call: { endMs: Date.now() + 900 } })
    expect(error.details).toMatchObject({ wire: 'request_timeout', appErrorCode: '1969' })
    expect(error.message).toContain('(the statement sleeps: select sleep(30))')
  })

  test('reports a connection that the server closes between two pages', async () => {
    const through = client()
    const body = { statement: 'many', parameters: [10] }
    const { cursor } = await ask('QUERY', { ...body, page: { size: 1 } }, through)
    const [rows] = await admin.query<mysql.RowDataPacket[]>(
      "select id from information_schema.processlist where user = 'connector'",
    )
    for (const { id } of rows as { id: number }[]) await admin.query(`kill ${id}`)
    const rest = async () => {
      let at = cursor
      while (at !== null)
        at = (await ask('QUERY', { ...body, page: { size: 1, cursor: at } }, through)).cursor
    }
    expect((await errorOf(rest())).code).toMatch(/upstream_closed|database_refused/)
    expect(await query('limited', [1], through)).toHaveLength(1)
  })

  test('is used with encryption, and only under a name of its certificate', async () => {
    await query('limited', [1])
    const accepted = await admin.query<mysql.RowDataPacket[]>(
      "show global status like 'Ssl_accepts'",
    )
    expect(Number(accepted[0][0]?.['Value'])).toBeGreaterThan(0)
    const resolve = async () => ['127.0.0.1']
    const there = { ...server, host: 'other.example' }
    const other = mariadbEgress(there, { statements: STATEMENTS, resolve })
    const error = await errorOf(query('limited', [1], other))
    expect([error.code, error.message]).toEqual([
      'upstream_rejected',
      expect.stringMatching(/another name/),
    ])
    expect(await query('limited', [1], client({ plain: true }))).toHaveLength(1)
  })
})

describe.skipIf(noMariadb !== null)('a misconfigured MariaDB', () => {
  test('is refused for an expired certificate, and refuses a login without encryption', async () => {
    const strict = await startMariadb({ TLS_FAULT: 'expired', REQUIRE_TLS: '1' })
    try {
      const login = (more: object) =>
        errorOf(
          mariadbEgress(strict, { statements: STATEMENTS, ...more }).fetch(
            sql('QUERY', { statement: 'notes' }),
          ),
        )
      const expired = await login({})
      expect([expired.code, expired.message]).toEqual([
        'upstream_rejected',
        expect.stringMatching(/has expired/),
      ])
      const plain = await login({ plain: true })
      expect(plain.details).toMatchObject({ wire: 'unauthenticated', appErrorCode: '1045' })
    } finally {
      for (const one of openedEgresses.splice(0)) await one.close()
      await strict.stop()
    }
  })
})
