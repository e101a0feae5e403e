/** Texts of statements: what a manifest may declare, and how their places are filled. */
import mysql from 'mysql2'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import type { SqlType } from '../../../runtime/contract/connector/sql.ts'
import { sessionFault } from '../../../runtime/contract/connector/sql-session.ts'
import { textFault } from '../../../runtime/contract/connector/sql-text.ts'
import { prepare } from '../../../runtime/egress/sql/mysql-text.ts'
import { writeText } from '../../../runtime/egress/sql/quote.ts'
import { errorOf } from '../fixtures/open-egress.ts'

const statement = (text: string, parameters: SqlType[] = [], reads = false) => ({
  text,
  parameters,
  reads,
})

describe('a statement', () => {
  test.each<[string, SqlType[]]>([
    ['select rolname from pg_roles where rolname > $1 limit $2', ['string', 'integer']],
    ["select $1::text || 'it''s {not a place}'", ['string']],
    ['grant {identifier:role} to {identifier:member}', []],
    ["alter role {identifier:role} valid until 'infinity'", []],
    ['create role {identifier:role} login password {password:password}', []],
    ['select count(*) from {identifier:schema}.{identifier:table}', []],
    ["-- a note\nselect '{}'::jsonb #>> '{a}'", []],
  ])('may be %j', (text, parameters) => {
    expect(textFault(statement(text, parameters))).toBeNull()
  })

  test.each<[string, RegExp, SqlType[]?]>([
    ['select 1; drop table x', /semicolon/],
    ["select '{identifier:x}'", /inside quotes/],
    ['select "{identifier:x}"', /inside quotes/],
    ['select `{identifier:x}`', /inside quotes/],
    ["grant {identifier:x} to 'y", /quote that is not closed/],
    ['grant {identifier:x} -- to', /a comment/],
    ['grant /* {identifier:x} */ y', /a comment/],
    ['do $$ {identifier:x} $$', /a text in dollars/],
    ['do $a$ {identifier:x} $a$', /a text in dollars/],
    ["select E'\\' {identifier:x}'", /quote/],
    ['select U&{identifier:x}', /part of a word/],
    ['select {literal:x}{literal:y}', /part of a word/],
    ["select {literal:x}'y'", /part of a word/],
    ['grant {Identifier:x} to y', /no place/],
    ['grant {identifier:x', /no place/],
    ['select $1', /uses \$1, and "parameters" declares 0/],
    ['select a from x where a = ?', /does not use \$1, .* as \$1, \$2/, ['string']],
    ['select \u0000', /control character/],
  ])('may not be %j', (text, why, parameters = []) => {
    expect(textFault(statement(text, parameters))).toMatch(why)
  })

  test.each(['insert into x values (1)', ' GRANT a TO b', 'delete from x', 'merge into x'])(
    'that reads must not begin like one that writes: %j',
    (text) => {
      expect(textFault(statement(text, [], true))).toMatch(
        /begins with [A-Z]+, .*leave "reads" out/,
      )
      expect(textFault(statement(text, [], false))).toBeNull()
    },
  )

  test('that reads must not set a password', () => {
    expect(textFault(statement('select {password:x}', [], true))).toMatch(/sets a password/)
  })
})

/** Unusual and malicious names. */
const ODD = [
  'ada',
  'Doe, Jane',
  'say "hi"',
  '"',
  '""; drop role x; --',
  "o'brien",
  "'",
  "\\'",
  '\\',
  'back\\slash',
  'jürgen 🚀',
  ' leading',
  '{identifier:x}',
  '$1',
  '/*',
  '--',
  'x\ny',
]

describe('a value in a place', () => {
  test.each(ODD)('is quoted as the library quotes it: %j', async (name) => {
    const text = 'alter role {identifier:name} rename to {literal:name}'
    expect(await writeText('s', { text }, { name }, 'postgresql')).toBe(
      `alter role ${pg.escapeIdentifier(name)} rename to ${pg.escapeLiteral(name)}`,
    )
  })

  test.each(ODD.filter((name) => !name.includes('🚀')))('is quoted for MySQL: %j', async (name) => {
    const text = 'grant {identifier:name} to {literal:name}'
    // The library escapes backslashes, which have no special meaning in the session.
    const literal = mysql.escape(name.replaceAll('\\', '/').replaceAll('\n', '/'))
    const written = await writeText('s', { text }, { name }, 'mysql')
    expect(written.split(' to ')[0]).toBe(`grant ${mysql.escapeId(name, true)}`)
    expect(written.split(' to ')[1]?.replace(/[\\\n]/g, '/')).toBe(
      literal.replaceAll("\\'", "''").replaceAll('\\"', '"'),
    )
  })

  test.each(['postgresql', 'mysql'] as const)(
    'must not contain half of a character: %s',
    async (dialect) => {
      for (const place of ['identifier', 'literal', 'password']) {
        const written = writeText('s', { text: `x {${place}:name}` }, { name: 'x\ud800' }, dialect)
        await expect(written).rejects.toMatchObject({
          details: { wire: 'invalid_value', appErrorCode: '22021' },
        })
      }
    },
  )

  test('that is a password is sent as the verifier that the server stores', async () => {
    const text = 'alter role x password {password:new}'
    const written = await writeText('s', { text }, { new: 'the-password' }, 'postgresql')
    expect(written).toMatch(
      /^alter role x password 'SCRAM-SHA-256\$4096:[A-Za-z0-9+/=]{24}\$[A-Za-z0-9+/=]{44}:[A-Za-z0-9+/=]{44}'$/,
    )
  })

  test('that is an integer is not quoted, and does not start a comment after a minus', async () => {
    const text = 'alter role x connection limit {integer:limit}'
    for (const dialect of ['postgresql', 'mysql'] as const) {
      const written = (limit: string, of = text) => writeText('s', { text: of }, { limit }, dialect)
      expect(await written('5')).toBe('alter role x connection limit 5')
      expect(await written('-1', 'select 1 -{integer:limit}')).toBe('select 1 - -1')
      for (const limit of ['5 superuser', '1e3', '0x1', '٣', '1.5', '--1', '1'.repeat(20)])
        expect((await errorOf(written(limit))).details).toMatchObject({
          wire: 'invalid_value',
          appErrorCode: '22023',
        })
    }
  })

  test.each([
    ['of 64 bytes', 'x'.repeat(64), '42622'],
    ['of 32 characters with 64 bytes', 'ü'.repeat(32), '42622'],
    ['with a NUL', 'a\0b', '42602'],
    ['that is empty', '', '42602'],
  ])('must not be an identifier %s', async (_what, name, code) => {
    const error = await errorOf(
      writeText('s', { text: 'drop role {identifier:name}' }, { name }, 'postgresql'),
    )
    expect(error.details).toMatchObject({ wire: 'invalid_value', appErrorCode: code })
  })

  test.each([
    ['is missing', {}, /needs a name for role/],
    ['is inherited', Object.create({ role: 'x' }), /needs a name for role/],
    ['has no place', { role: 'x', other: 'y' }, /no place for other/],
  ])('that %s is refused', async (_what, names, why) => {
    const error = await errorOf(
      writeText('s', { text: 'drop role {identifier:role}' }, names, 'postgresql'),
    )
    expect(error.message).toMatch(why)
  })
})

describe('a statement of MySQL', () => {
  test('has a question mark for each use of a parameter, and none in quotes', () => {
    const text = "select '$1', `$2`, $2, $1 from x where a = $2"
    expect(prepare(statement(text, ['string', 'string']), ['one', null])).toEqual({
      text: "select '$1', `$2`, ?, ? from x where a = ?",
      values: [null, 'one', null],
    })
  })

  test.each([
    'delete from x where id <> $1 -- all but $1\n',
    'delete from x where id <> $1 --\t$1',
    "# $1 isn't\ndelete from x where id <> $1 # $1",
    '/* keeps $1,\n not $1 */ delete from x where id <> $1',
  ])('has no question mark in a comment: %j', (text) => {
    const marked = text.replace('<> $1', '<> ?')
    expect(prepare(statement(text, ['string']), ['ada'])).toEqual({ text: marked, values: ['ada'] })
  })

  test('has a question mark where -- does not begin a comment', () => {
    expect(prepare(statement('select 5--$1', ['string']), ['1']).text).toBe('select 5--?')
  })
})

const READS = true
describe('the check for effects that outlast a request', () => {
  test.each<[string, RegExp, boolean?]>([
    ['set session authorization x', /begins with SET/],
    ["set role 'x'", /begins with SET/],
    ['set session characteristics as transaction read write', /begins with SET/],
    ['set transaction read write', /begins with SET/],
    ['/* a note */ SET search_path = x', /begins with SET/],
    ['-- a note\nset/**/search_path = x', /begins with SET/],
    ['(/**/reset all', /begins with RESET/],
    ['-- a note\rcommit', /begins with COMMIT/],
    ['discard temp', /begins with DISCARD/],
    ['begin', /begins with BEGIN/],
    ['start transaction', /begins with START/],
    ['commit', /begins with COMMIT/],
    ["commit prepared 'x'", /begins with COMMIT/],
    ['end', /begins with END/],
    ['rollback', /begins with ROLLBACK/],
    ['abort', /begins with ABORT/],
    ['savepoint x', /begins with SAVEPOINT/],
    ["prepare transaction 'x'", /begins with PREPARE/],
    ['prepare x as select 1', /begins with PREPARE/],
    ['execute x', /begins with EXECUTE/],
    ['deallocate all', /begins with DEALLOCATE/],
    ['declare x cursor with hold for select 1', /begins with DECLARE/],
    ['listen x', /begins with LISTEN/],
    ["load 'x'", /begins with LOAD/],
    ['/* /* */ select */ commit', /comment in a comment/],
    ['copy x from stdin', /begins with COPY/],
    ["/* a note */ copy (select 1) to program 'x'", /begins with COPY/],
    ['-- a note\ncopy x to stdout', /begins with COPY/, READS],
    ["select set_config('search_path', 'x', false)", /set_config\(name, value, true\)/],
    ["select set_config('a.b', 'true, true', false)", /set_config\(name, value, true\)/],
    ["select 1, pg_catalog.SET_CONFIG ('a.b', $1, $2)", /set_config\(name, value, true\)/],
    ['select pg_advisory_lock(1)', /pg_advisory_xact_lock/],
    ['select pg_try_advisory_lock_shared(1)', /pg_advisory_xact_lock/],
    ['create temp table x (a int)', /temporary/],
    ['create or replace local temporary view x as select 1', /temporary/],
    ['select 1 into temp x', /temporary/],
    ['create table pg_temp.x (a int)', /temporary/],
    [
      'describe x',
      /in PostgreSQL it begins with one of SELECT, WITH, SHOW, TABLE, VALUES, EXPLAIN$/,
      READS,
    ],
    ['do $$ begin end $$', /in PostgreSQL it begins with one of SELECT, /, READS],
    ['call x()', /in PostgreSQL it begins with one of SELECT, /, READS],
  ])('refuses in PostgreSQL: %j', (text, why, reads = false) => {
    expect(sessionFault('postgresql', statement(text, [], reads))).toMatch(why)
  })

  test.each<[string, RegExp, boolean?]>([
    ['set session sql_mode = 1', /begins with SET/],
    [' SET @@global.general_log = 1', /begins with SET/],
    ['/* a note */ set role x', /begins with SET/],
    ['# a note\nset @x = 1', /begins with SET/],
    ['/*! set role x */', /one that the server runs/],
    ['/*M!100000 commit */', /one that the server runs/],
    ['commit', /begins with COMMIT/],
    ['start transaction', /begins with START/],
    ['xa begin 1', /begins with XA/],
    ['lock tables x write', /begins with LOCK/],
    ['use other', /begins with USE/],
    ['load data infile x', /begins with LOAD/],
    ["select get_lock('x', 1)", /lock for the whole session/],
    ['create temporary table x (a int)', /temporary/],
    ["select 1--1, get_lock('x', 1)", /lock for the whole session/],
    ['select a from x where a = ? and b = $1', /question mark/],
    ["select 1 into outfile 'x'", /writes a file on the server/, READS],
    ["(select a from x into/**/DumpFile 'x')", /writes a file on the server/, READS],
    ['update x set a = 1', /in MySQL it begins with one of SELECT, /, READS],
    ['call x()', /in MySQL it begins with one of SELECT, /, READS],
  ])('refuses in MySQL: %j', (text, why, reads = false) => {
    expect(sessionFault('mysql', statement(text, [], reads))).toMatch(why)
  })

  test.each<['postgresql' | 'mysql', string, boolean?]>([
    ['postgresql', '(select 1) union (select 2)', READS],
    ['postgresql', "-- a note\nwith x as (select '{}'::jsonb #>> '{a}') table x", READS],
    ['postgresql', "select set_config('a.b', $1, true), 'commit; set_config(1)'"],
    ['postgresql', 'set local lock_timeout = 100'],
    ['postgresql', 'set constraints all deferred'],
    ['postgresql', 'select pg_advisory_xact_lock(1)'],
    ['postgresql', 'create table template (a int)'],
    ['postgresql', 'do $$ begin end $$'],
    ['mysql', '(select 1) union (select 2)', READS],
    ['mysql', 'show grants', READS],
    ['mysql', "select 'into outfile', `into outfile` from x", READS],
    ['mysql', "select 1 into outfile 'x'"],
    ['mysql', "select '?', `?`, a -- is it?\n from x where a = $1", READS],
    ['mysql', 'set password for x = 1'],
    ['mysql', 'set default role x for y'],
    ['mysql', 'call x()'],
  ])('allows in %s: %j', (dialect, text, reads = false) => {
    expect(sessionFault(dialect, statement(text, [], reads))).toBeNull()
  })
})
