/** `ctx.sql` through the egress, against a real PostgreSQL. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { errorBody } from '../../../runtime/contract/envelope/envelope.ts'
import { errorOf, openedEgresses } from '../fixtures/open-egress.ts'
import { type Database, egressTo, noDatabase, sql, startDatabase } from './database.ts'

const STATEMENTS = {
  roles: {
    text: 'select rolname, rolcanlogin, oid from pg_roles where rolname > $1 order by rolname limit $2',
    parameters: ['string' as const, 'integer' as const],
    reads: true,
  },
  numbers: {
    text: 'select n from generate_series(1, $1::int) n',
    parameters: ['integer' as const],
    reads: true,
  },
  echo: {
    text: 'select $1::text a, $2::bigint b, $3::float8 c, $4::boolean d, $5::text[] e',
    parameters: [
      'string' as const,
      'integer' as const,
      'number' as const,
      'boolean' as const,
      'strings' as const,
    ],
    reads: true,
  },
  values: {
    text: `select 9007199254740993::bigint big, 12345678901234567890.5::numeric exact, '\\x00ff'::bytea bytes,
      '2026-01-31 23:59:59.5+01'::timestamptz at, 'infinity'::timestamptz never, 'NaN'::float8 nan,
      null::int nothing, '{"a":1}'::jsonb data, 7::smallint small, date '2026-01-31' as on_day, 1 as "__proto__"`,
    reads: true,
  },
  times: {
    text: `select '0001-01-01 00:00:00.25'::timestamp a, '9999-12-31 23:59:59+00'::timestamptz b, '0044-03-15 12:00:00 BC'::timestamp c,
      '0044-03-15 12:00:00+00 BC'::timestamptz d, '10000-01-01 00:00:00+00'::timestamptz e, '-infinity'::timestamp f`,
    reads: true,
  },
  many: {
    text: "select repeat('x', 1024 * 1024) from generate_series(1, $1::int)",
    parameters: ['integer' as const],
    reads: true,
  },
  lies: {
    text: "with x as (insert into notes values ('written') returning note) select note from x",
    reads: true,
  },
  lies_too: { text: "select set_config('transaction_read_only', 'off', true)", reads: true },
  lies_later: { text: "select set_config('transaction_read_only', 'off', false)", reads: true },
  lies_first: { text: 'set session characteristics as transaction read write', reads: true },
  commits: { text: 'commit', reads: true },
  copies: { text: "/* a note */ copy (select 1) to program 'true'" },
  floats: {
    text: 'select 0.1::float8 + 0.2::float8 as a, 123456.789::float8 as b, 0.1::float4 as c',
    reads: true,
  },
  hidden_set: { text: 'select public.keeps()', reads: true },
  hidden_write: { text: 'select public.keeps()' },
  temporary: {
    text: 'select count(*)::int n from pg_class where relname = $1',
    parameters: ['string' as const],
    reads: true,
  },
  session: {
    text: `select current_setting('search_path') path, coalesce(current_setting('app.secret', true), '') secret, current_user::text who,
      (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) locks,
      current_setting('default_transaction_read_only') reads_only, current_setting('DateStyle') dates,
      (select count(*)::int from pg_prepared_statements) prepared, pg_backend_pid() pid`,
    reads: true,
  },
  sleeps: { text: 'select pg_sleep(30)', reads: true },
  twice: { text: 'select 1 as id, 2 as id from generate_series(1, 3)', reads: true },
  notes: { text: 'select note from notes order by note', reads: true },
  notes_after: {
    text: 'select note from notes where note > $1 order by note limit $2',
    parameters: ['string' as const, 'integer' as const],
    reads: true,
  },
  note: { text: 'insert into notes values ($1)', parameters: ['string' as const] },
  note_twice: {
    text: 'insert into notes values ($1) returning note, note',
    parameters: ['string' as const],
  },
  create_role: { text: 'create role {identifier:role} login password {password:password}' },
  limit: { text: 'alter role {identifier:role} connection limit 5' },
  drop_role: { text: 'drop role {identifier:role}' },
  comment: { text: 'comment on role {identifier:role} is {literal:text}' },
  no_table: { text: 'select 1 from no_such_table', reads: true },
  wrong: { text: 'select 1 1', reads: true },
  divide: { text: 'select 1 / $1::int', parameters: ['integer' as const], reads: true },
  locks: { text: 'update notes set note = note where note = $1', parameters: ['string' as const] },
}

describe.skipIf(noDatabase !== null)(`PostgreSQL${noDatabase ? `: ${noDatabase}` : ''}`, () => {
  let database: Database
  let admin: pg.Client

  beforeAll(async () => {
    database = await startDatabase()
    const { host, port } = database
    admin = new pg.Client({
      host,
      port,
      database: 'corp',
      user: 'admin',
      password: 'admin-secret',
      ssl: false,
    })
    await admin.connect()
    await admin.query('create table notes (note text primary key)')
    await admin.query('grant all on notes to connector')
    await admin.query('create role left_role; grant left_role to connector')
  })
  afterEach(async () => {
    for (const client of openedEgresses.splice(0)) await client.close()
  })
  afterAll(async () => {
    await admin?.end()
    await database?.stop()
  })

  type More = Omit<Parameters<typeof egressTo>[1], 'statements'>
  const client = (more: More = {}) => egressTo(database, { statements: STATEMENTS, ...more })
  const ask = async (method: string, body: object, through = client()) =>
    JSON.parse(String((await through.fetch(sql(method, body))).body))
  const query = async (statement: string, parameters: unknown[] = [], through = client()) =>
    (await ask('QUERY', { statement, parameters }, through)).rows
  const execute = (statement: string, names: object = {}, parameters: unknown[] = []) =>
    ask('EXECUTE', { statement, names, parameters })
  const refused = async (statement: string, parameters: unknown[] = [], more: More = {}) =>
    errorOf(query(statement, parameters, client(more)))

  test('reads rows, and records the query without values', async () => {
    const through = client()
    const [first] = await query('roles', ['user001', 2], through)
    expect(first).toEqual({ rolname: 'user002', rolcanlogin: true, oid: expect.any(Number) })
    expect(through.records).toMatchObject([
      {
        method: 'QUERY',
        host: `127.0.0.1:${database.port}`,
        path: '/roles',
        query: '?parameters=2&rows=2',
        status: 200,
        error: null,
      },
    ])
    expect(through.hasWritten()).toBe(false)
  })

  test('executes a statement that returns rows, even if two columns have the same name', async () => {
    const step = (note: string) => ({ statement: 'note_twice', parameters: [note] })
    expect(await ask('EXECUTE', step('twice 1'))).toEqual({ touched: [1] })
    const steps = [step('twice 2'), step('twice 3')]
    expect(await ask('TRANSACTION', { steps })).toEqual({ touched: [1, 1] })
    await admin.query("delete from notes where note like 'twice%'")
  })

  test('treats a parameter as a value and nothing else', async () => {
    const value = "x'; drop table notes; --"
    const list = ['a', '"', '\\', '{}', ',', 'NULL', '']
    const [row] = await query('echo', [value, 2 ** 53 - 1, 0.5, true, list])
    expect(row).toMatchObject({ a: value, b: '9007199254740991', c: 0.5, d: true })
    expect(row.e).toBe('{a,"\\"","\\\\","{}",",","NULL",""}')
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

  test('returns null for null in every column', async () => {
    const [row] = await query('echo', [null, null, null, null, null])
    expect(row).toEqual({ a: null, b: null, c: null, d: null, e: null })
  })

  test('preserves values that JavaScript cannot represent', async () => {
    const [row] = await query('values')
    expect(JSON.parse(JSON.stringify(Object.entries(row)))).toEqual([
      ['big', '9007199254740993'],
      ['exact', '12345678901234567890.5'],
      ['bytes', 'AP8='],
      ['at', '2026-01-31T22:59:59.5Z'],
      ['never', 'infinity'],
      ['nan', 'NaN'],
      ['nothing', null],
      ['data', '{"a": 1}'],
      ['small', 7],
      ['on_day', '2026-01-31'],
      ['__proto__', 1],
    ])
  })

  test('returns a time as ISO 8601, or as the server writes it when it has no such form', async () => {
    expect(await query('times')).toEqual([
      {
        a: '0001-01-01T00:00:00.25',
        b: '9999-12-31T23:59:59Z',
        c: '0044-03-15 12:00:00 BC',
        d: '0044-03-15 12:00:00+00 BC',
        e: '10000-01-01 00:00:00+00',
        f: '-infinity',
      },
    ])
  })

  test('returns all digits of a number, even if the role has others set', async () => {
    const { username } = database.auth
    await admin.query(`alter role ${username} set extra_float_digits = -10`)
    const [row] = await query('floats')
    await admin.query(`alter role ${username} reset extra_float_digits`)
    expect(row).toEqual({ a: 0.30000000000000004, b: 123456.789, c: 0.1 })
  })

  test('executes no COPY, even behind a comment', async () => {
    await admin.query('grant pg_execute_server_program to connector')
    const error = await errorOf(execute('copies'))
    expect([error.code, error.message]).toEqual([
      'egress_undeclared',
      expect.stringMatching(/begins with COPY, which is not carried out/),
    ])
  })

  test('reads a result in pages, each from the end of the previous one', async () => {
    const through = client()
    const all: number[] = []
    let cursor: string | null = null
    do {
      const page = { size: 40, cursor }
      const found = await ask('QUERY', { statement: 'numbers', parameters: [100], page }, through)
      all.push(...found.rows.map(({ n }: { n: number }) => n))
      cursor = found.cursor
    } while (cursor !== null)
    expect(all).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
    expect(await query('numbers', [1], through)).toEqual([{ n: 1 }])
  })

  test('refuses a cursor for another statement', async () => {
    const through = client()
    const { cursor } = await ask(
      'QUERY',
      { statement: 'numbers', parameters: [100], page: { size: 10 } },
      through,
    )
    const page = { size: 10, cursor }
    const error = await errorOf(ask('QUERY', { statement: 'notes', page }, through))
    expect([error.code, error.details.wire]).toEqual(['database_refused', 'invalid_page_token'])
    // Unread rows are not returned to a later query.
    expect(await query('numbers', [1], through)).toEqual([{ n: 1 }])
  })

  test('reads a snapshot in pages, despite changes between the pages', async () => {
    await admin.query(
      "insert into notes select 'n' || lpad(n::text, 2, '0') from generate_series(1, 30) n",
    )
    const through = client()
    const found: string[] = []
    let cursor: string | null = null
    do {
      const page = { size: 10, cursor }
      const read = await ask('QUERY', { statement: 'notes', page }, through)
      found.push(...read.rows.map(({ note }: { note: string }) => note))
      cursor = read.cursor
      // Changes rows already read, rows still to be read, and adds rows before and after them.
      await admin.query(
        "delete from notes where note in ('n01', 'n12', 'n25'); insert into notes values ('a00'), ('z99') on conflict do nothing; update notes set note = 'moved' where note = 'n20'",
      )
    } while (cursor !== null)
    expect(found).toEqual(
      Array.from({ length: 30 }, (_, n) => `n${String(n + 1).padStart(2, '0')}`),
    )
    const now = await query('notes', [], through)
    expect(now).toHaveLength(29)
    await admin.query('delete from notes')
  })

  test('misses no row that stays when a listing pages by a key while rows are added and deleted', async () => {
    await admin.query(
      "insert into notes select 'n' || lpad(n::text, 2, '0') from generate_series(1, 30) n",
    )
    const found: string[] = []
    for (let after = ''; ; after = found.at(-1) ?? '') {
      const rows = await query('notes_after', [after, 10])
      found.push(...rows.map(({ note }: { note: string }) => note))
      if (rows.length < 10) break
      await admin.query(
        "delete from notes where note in ('n01', 'n10', 'n25'); insert into notes values ('a00'), ('n125') on conflict do nothing",
      )
    }
    const stay = Array.from({ length: 30 }, (_, n) => `n${String(n + 1).padStart(2, '0')}`)
    for (const note of stay.filter((one) => one !== 'n25')) expect(found).toContain(note)
    expect(new Set(found).size).toBe(found.length)
    await admin.query('delete from notes')
  })

  test('refuses a cursor whose connection was closed', async () => {
    const body = { statement: 'numbers', parameters: [100] }
    const { cursor } = await ask('QUERY', { ...body, page: { size: 10 } })
    for (const one of openedEgresses.splice(0)) await one.close()
    const error = await errorOf(ask('QUERY', { ...body, page: { size: 10, cursor } }))
    expect(error.details.wire).toBe('invalid_page_token')
  })

  test('serves a query while all connections hold unread results', async () => {
    const { auth } = database
    const through = client()
    const body = { statement: 'numbers', parameters: [100], page: { size: 10 } }
    for (let index = 0; index < 10; index += 1) await ask('QUERY', body, through)
    expect(await query('numbers', [1], through)).toEqual([{ n: 1 }])
    const { rows } = await admin.query(
      'select count(*)::int n from pg_stat_activity where usename = $1',
      [auth.username],
    )
    expect(rows[0].n).toBeLessThanOrEqual(8)
  })

  test('reads ten thousand rows, and suggests pages for more', async () => {
    expect(await query('numbers', [10_000])).toHaveLength(10_000)
    const error = await refused('numbers', [10_001])
    expect([error.code, error.message]).toEqual([
      'upstream_too_large',
      expect.stringMatching(/read it in pages/),
    ])
  })

  test('reads a hundred thousand rows in pages', async () => {
    const through = client({ requestsPerSecond: 1000, ceilings: { maxRequestsPerSecond: 1000 } })
    let [count, last] = [0, 0]
    let cursor: string | null = null
    do {
      const page = { size: 1000, cursor }
      const body = { statement: 'numbers', parameters: [100_000], page }
      const found = await ask('QUERY', body, through)
      count += found.rows.length
      last = found.rows.at(-1)?.n ?? last
      cursor = found.cursor
    } while (cursor !== null)
    expect([count, last]).toEqual([100_000, 100_000])
  })

  test('refuses a result of fifty megabytes', async () => {
    const error = await refused('many', [50])
    expect([error.code, error.message]).toEqual([
      'upstream_too_large',
      expect.stringMatching(/in pages, or fewer columns/),
    ])
    expect(await query('numbers', [1])).toHaveLength(1)
  })

  test.each(['lies', 'lies_too'])(
    'has the server refuse a statement that is wrongly declared to read: %s',
    async (name) => {
      const error = await refused(name)
      expect(error.details).toMatchObject({
        wire: 'client_call_error',
        appErrorCode: name === 'lies' ? '25006' : '25001',
      })
      expect(await query('notes')).toEqual([])
    },
  )

  test('has the server refuse a write even after statements that try to change the session', async () => {
    const through = client()
    for (const name of ['lies_first', 'lies_later', 'commits'])
      await query(name, [], through).catch(() => undefined)
    expect((await errorOf(query('lies', [], through))).details.appErrorCode).toBe('25006')
  })

  test.each([
    ['lies_later', /set_config/],
    ['lies_first', /begins with SET/],
    ['commits', /begins with COMMIT/],
  ])('sends no statement that changes the session: %s', async (name, why) => {
    const through = client()
    const error = await errorOf(query(name, [], through))
    expect([error.code, error.message]).toEqual(['egress_undeclared', expect.stringMatching(why)])
    expect(through.records[0]).toMatchObject({ sent: false })
  })

  test.each(['page', 'query', 'execute', 'transaction', 'failed'])(
    'leaves no state in the session, even after a function that changes it: %s',
    async (way) => {
      await admin.query(`create or replace function keeps() returns int language plpgsql as $$
        begin
          perform set_config('search_path', 'elsewhere', false), set_config('app.secret', 'of another', false),
            set_config('default_transaction_read_only', 'on', false), set_config('DateStyle', 'German', false),
            set_config('role', 'left_role', false), pg_advisory_lock(42);
          if current_setting('transaction_read_only') = 'off' then create temp table if not exists left_behind (a int); end if;
          execute 'deallocate all'; execute 'prepare left_prepared as select 1';
          if '${way}' = 'failed' then raise 'fails'; end if;
          return 1;
        end $$`)
      const through = client()
      const [before] = await query('session', [], through)
      const body = { statement: way === 'page' || way === 'query' ? 'hidden_set' : 'hidden_write' }
      if (way === 'page') {
        const one = await ask('QUERY', { ...body, page: { size: 10 } }, through)
        expect(one.rows).toHaveLength(1)
      } else if (way === 'query') await ask('QUERY', body, through)
      else if (way === 'transaction') await ask('TRANSACTION', { steps: [body, body] }, through)
      else if (way === 'execute') await ask('EXECUTE', body, through)
      else expect((await errorOf(ask('EXECUTE', body, through))).details.appErrorCode).toBe('P0001')
      const [after] = await query('session', [], through)
      expect(after).toEqual(before)
      expect(after).toMatchObject({
        secret: '',
        who: 'connector',
        locks: 0,
        prepared: 0,
        dates: 'ISO, YMD',
      })
      expect(await query('temporary', ['left_behind'], through)).toEqual([{ n: 0 }])
      expect(
        (await errorOf(ask('QUERY', { statement: 'lies' }, through))).details.appErrorCode,
      ).toBe('25006')
    },
  )

  const LIE = { statement: 'lies', parameters: [] }
  test.each([
    ['EXECUTE', LIE],
    ['TRANSACTION', { steps: [LIE] }],
    ['TRANSACTION', { steps: [{ statement: 'note', parameters: ['x'] }, LIE] }],
  ])('executes no statement that was declared to read: %s %j', async (method, body) => {
    for (const level of ['read', 'write'] as const) {
      const error = await errorOf(ask(method, body, client({ call: { level } })))
      // A capability that reads may not use `note` at all.
      const isForeign = level === 'read' && JSON.stringify(body).includes('"note"')
      expect(error.code).toBe(isForeign ? 'egress_undeclared' : 'context_misused')
    }
    const error = await errorOf(ask(method, body))
    expect(error.message).toMatch(/"lies" only reads.*ctx\.sql\.query.*or take "reads": true/)
    expect(await query('notes')).toEqual([])
  })

  test('refuses to query with a statement that writes', async () => {
    const error = await refused('note', ['x'])
    expect([error.code, error.message]).toEqual([
      'context_misused',
      expect.stringMatching(/declare "reads": true for "note"/),
    ])
  })

  test('refuses a statement that writes to a capability that reads', async () => {
    const error = await errorOf(
      ask('EXECUTE', { statement: 'note', parameters: ['x'] }, client({ call: { level: 'read' } })),
    )
    expect(error.code).toBe('egress_undeclared')
  })

  test.each([
    ['an unknown statement', { statement: 'none' }, 'egress_undeclared'],
    ['a statement text instead of a name', { statement: 'select 1' }, 'egress_undeclared'],
    ['an inherited name', { statement: 'toString' }, 'egress_undeclared'],
    ['too few parameters', { statement: 'numbers' }, 'context_misused'],
    ['a parameter of another type', { statement: 'numbers', parameters: ['1'] }, 'context_misused'],
    ['an unsafe integer', { statement: 'numbers', parameters: [2 ** 53] }, 'context_misused'],
    ['an object', { statement: 'numbers', parameters: [{ n: 1 }] }, 'context_misused'],
    ['an unknown field', { statement: 'roles', text: 'select 1' }, 'context_misused'],
  ])('refuses %s before anything is sent', async (_what, body, code) => {
    const through = client()
    expect((await errorOf(through.fetch(sql('QUERY', body)))).code).toBe(code)
    expect(through.records[0]).toMatchObject({ sent: false })
  })

  test.each([
    [[], 'takes 1 parameter ($1 integer), and got 0'],
    [[1, 2], 'takes 1 parameter ($1 integer), and got 2'],
  ])('names a statement, its parameters and those that it got: %j', async (parameters, words) => {
    const error = await refused('numbers', parameters)
    expect(error.message).toBe(`The statement numbers ${words}`)
    expect(errorBody(error, 'acme').error).toMatchObject({
      error_code: 'client_call_error',
      raised_by: 'Keyway',
    })
  })

  test('writes, and returns how many rows it touched', async () => {
    const through = client()
    expect(await ask('EXECUTE', { statement: 'note', parameters: ['one'] }, through)).toEqual({
      touched: [1],
    })
    expect(through.hasWritten()).toBe(true)
    expect(await query('notes')).toEqual([{ note: 'one' }])
    await admin.query('delete from notes')
  })

  test('runs a transaction completely or not at all', async () => {
    const steps = ['a', 'b', 'a'].map((note) => ({ statement: 'note', parameters: [note] }))
    const error = await errorOf(ask('TRANSACTION', { steps }))
    expect(error.details).toMatchObject({ wire: 'bad_request', appErrorCode: '23505' })
    expect(await query('notes')).toEqual([])
    expect(await ask('TRANSACTION', { steps: steps.slice(0, 2) })).toEqual({ touched: [1, 1] })
    expect(await query('notes')).toEqual([{ note: 'a' }, { note: 'b' }])
    await admin.query('delete from notes')
  })

  test('serves the next request after one was refused', async () => {
    const through = client()
    expect((await errorOf(query('divide', [0], through))).details.appErrorCode).toBe('22012')
    expect(await query('divide', [1], through)).toEqual([{ '?column?': 1 }])
  })

  test.each([
    'Roe, Jane',
    'say "ho"',
    "o'brien; drop role connector",
    'jörg 🚀',
    ' leading',
    'x'.repeat(63),
  ])('creates a role with any name, which can log in with its password: %j', async (role) => {
    const password = `pass'"\\ ${role}`
    await execute('create_role', { role, password })
    await execute('comment', { role, text: `it's \\ "${role}"` })
    const user = { username: role, password }
    expect(await query('numbers', [1], client({ user }))).toHaveLength(1)
    const { rows } = await admin.query(
      "select shobj_description(oid, 'pg_authid') said from pg_roles where rolname = $1",
      [role],
    )
    expect(rows).toEqual([{ said: `it's \\ "${role}"` }])
    const twice = await errorOf(execute('create_role', { role, password }))
    expect(twice.details).toMatchObject({ wire: 'bad_request', appErrorCode: '42710' })
    await execute('drop_role', { role })
    const gone = await errorOf(execute('drop_role', { role }))
    expect(gone.details).toMatchObject({ wire: 'not_found', appErrorCode: '42704' })
  })

  test.each<[string, string, string, string, More?]>([
    [
      'a wrong password',
      'numbers',
      'unauthenticated',
      '28P01',
      { user: { username: 'connector', password: 'x' } },
    ],
    [
      'an unknown user',
      'numbers',
      'unauthenticated',
      '28P01',
      { user: { username: 'nobody', password: 'x' } },
    ],
    [
      'a user who may not log in',
      'numbers',
      'unauthenticated',
      '28000',
      { user: { username: 'user010', password: 'pw-010' } },
    ],
    [
      'an expired user',
      'numbers',
      'unauthenticated',
      '28P01',
      { user: { username: 'user020', password: 'pw-020' } },
    ],
    ['an unknown database', 'numbers', 'not_found', '3D000', { entry: { database: 'none' } }],
    [
      'a database that accepts no connections',
      'numbers',
      'permission_denied',
      '42501',
      { entry: { database: 'closed' } },
    ],
    ['an unknown table', 'no_table', 'client_call_error', '42P01'],
    ['invalid SQL', 'wrong', 'client_call_error', '42601'],
    ['a division by zero', 'divide', 'invalid_value', '22012'],
  ])('reports %s by its code', async (_what, name, wire, code, more = {}) => {
    const parameters = ['numbers', 'divide'].includes(name) ? [0] : []
    const error = await refused(name, parameters, more)
    expect(error.details).toMatchObject({ wire, appErrorCode: code })
  })

  test('reports missing privileges by their code', async () => {
    const user = { username: 'reader', password: 'reader-secret' }
    const names = { role: 'x', password: 'y' }
    const error = await errorOf(
      ask('EXECUTE', { statement: 'create_role', names }, client({ user })),
    )
    expect(error.details).toMatchObject({ wire: 'permission_denied', appErrorCode: '42501' })
  })

  test('names both possible reasons of a refused password, which the server does not distinguish', async () => {
    const over = await refused('numbers', [1], {
      user: { username: 'user020', password: 'pw-020' },
    })
    expect(over.message).toContain(
      ' answered 28P01 (invalid password): the user or the password is wrong, or the time of the password is over (valid until); the server does not say which: ',
    )
  })

  test('reports too many connections by their code', async () => {
    const user = { username: 'narrow', password: 'narrow-secret' }
    expect(await query('numbers', [1], client({ user }))).toHaveLength(1)
    const error = await refused('numbers', [1], { user })
    expect(error.details).toMatchObject({ wire: 'rate_limit', appErrorCode: '53300' })
  })

  test('refuses an empty password before anything is sent', async () => {
    const through = client({ user: { username: 'connector', password: '' } })
    expect((await errorOf(query('numbers', [1], through))).details.wire).toBe('unauthenticated')
    expect(through.records[0]).toMatchObject({ sent: false })
  })

  const running = async () => {
    const { rows } = await admin.query(
      "select count(*)::int n from pg_stat_activity where usename = 'connector' and query like '%pg_sleep%' and state = 'active'",
    )
    return rows[0].n
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
    const through = client({ call: { endMs: Date.now() + 1000 } })
    const error = await errorOf(query('sleeps', [], through))
    expect(through.records).toMatchObject([
      { path: '/sleeps', text: expect.stringMatching(/^select/) },
    ])
    expect(error.details).toMatchObject({ wire: 'request_timeout', appErrorCode: '57014' })
    expect(error.message).toContain('(the statement sleeps: select')
  })

  test('reports a connection that the server closes between two pages', async () => {
    const through = client()
    const body = { statement: 'numbers', parameters: [100] }
    const { cursor } = await ask('QUERY', { ...body, page: { size: 10 } }, through)
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'connector'",
    )
    const error = await errorOf(ask('QUERY', { ...body, page: { size: 10, cursor } }, through))
    expect(['database_refused', 'upstream_closed']).toContain(error.code)
    expect(await query('numbers', [1], through)).toHaveLength(1)
  })

  test('runs concurrent writes of one row one after the other', async () => {
    await admin.query("insert into notes values ('shared')")
    const through = client()
    const body = { statement: 'locks', parameters: ['shared'] }
    const both = await Promise.all([ask('EXECUTE', body, through), ask('EXECUTE', body, through)])
    expect(both).toEqual([{ touched: [1] }, { touched: [1] }])
    await admin.query('delete from notes')
  })

  test('reports concurrent changes of one role as a conflict that may be retried', async () => {
    const at = { host: database.host, port: database.port, database: 'corp', ssl: false }
    const other = new pg.Client({ ...at, user: 'admin', password: 'admin-secret' })
    await other.connect()
    await other.query('begin; alter role user001 connection limit 7')
    const refused = errorOf(ask('EXECUTE', { statement: 'limit', names: { role: 'user001' } }))
    const waits =
      "select from pg_stat_activity where usename = 'connector' and wait_event_type = 'Lock'"
    await expect.poll(async () => (await admin.query(waits)).rowCount).toBe(1)
    await other.query('commit')
    expect((await refused).details).toMatchObject({ wire: 'service_error', appErrorCode: '40001' })
    await other.query('alter role user001 connection limit -1')
    await other.end()
  })

  test('does not reuse a connection for another user', async () => {
    await query('numbers', [1])
    const user = { username: 'user001', password: 'wrong' }
    expect((await refused('numbers', [1], { user })).details.appErrorCode).toBe('28P01')
  })

  test('uses encryption even though the server accepts plain text', async () => {
    await query('numbers', [1])
    const { rows } = await admin.query(
      "select bool_and(ssl) ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'connector'",
    )
    expect(rows).toEqual([{ ssl: true }])
  })
})

describe.skipIf(noDatabase !== null)('a misconfigured PostgreSQL', () => {
  test.each([
    ['expired', { TLS_FAULT: 'expired' }, /has expired/],
    ['for another name', { TLS_FAULT: 'name' }, /for another name: it has DNS:/],
  ])('is refused when its certificate is %s', async (_what, env, why) => {
    const other = await startDatabase(env)
    try {
      const through = egressTo(other, { statements: STATEMENTS })
      const error = await errorOf(through.fetch(sql('QUERY', { statement: 'notes' })))
      expect([error.code, error.message]).toEqual(['upstream_rejected', expect.stringMatching(why)])
    } finally {
      for (const one of openedEgresses.splice(0)) await one.close()
      await other.stop()
    }
  })

  test('that requires encryption refuses a login without it', async () => {
    const strict = await startDatabase({ REQUIRE_TLS: '1' })
    try {
      const through = egressTo(strict, { statements: STATEMENTS, plain: true })
      const error = await errorOf(through.fetch(sql('QUERY', { statement: 'notes' })))
      expect(error.details).toMatchObject({ wire: 'unauthenticated', appErrorCode: '28000' })
    } finally {
      for (const one of openedEgresses.splice(0)) await one.close()
      await strict.stop()
    }
  })
})
