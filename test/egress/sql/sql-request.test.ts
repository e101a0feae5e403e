/**
 * Messages for requests of `ctx.sql` that do not fit their statements. They contain no values of the request.
 */
import { expect, test } from 'vitest'
import type { StatementStep } from '../../../runtime/contract/connector/sql.ts'
import { resolveSql } from '../../../runtime/egress/rules/sql-rules.ts'
import { judgeSqlRequest } from '../../../runtime/egress/sql/sql-request.ts'
import { thrownBy } from '../fixtures/open-egress.ts'

const reads = (parameters: ('string' | 'integer' | 'strings')[]) => ({
  text: 'select 1',
  parameters,
  reads: true,
})

const targets = resolveSql(
  [
    {
      sql: 'postgresql://db.example',
      dialect: 'postgresql',
      database: 'hr',
      login: { credential: 'auth' },
    },
  ],
  {
    level: 'read',
    settings: {},
    statements: {
      people: reads(['string', 'integer']),
      some: reads(['strings']),
      grant: { text: 'delete from x', parameters: [], reads: false },
    },
  },
)

const messageOf = async (statement: string, parameters: StatementStep['parameters'] = []) =>
  (
    await thrownBy(() =>
      judgeSqlRequest({ operation: 'query', statement, parameters, names: {} }, targets),
    )
  ).message

test.each<[string, StatementStep['parameters'], string]>([
  ['people', ['hunter2'], 'takes 2 parameters ($1 string, $2 integer), and got 1'],
  [
    'people',
    ['x', 'hunter2'],
    '$2 of the statement people is declared as integer: expected a number, got a string',
  ],
  [
    'people',
    [12_321, 5],
    '$1 of the statement people is declared as string: expected a string, got a number',
  ],
  ['people', [['hunter2'], 5], 'expected a string, got an array'],
  ['some', ['hunter2'], 'declared as strings: expected an array, got a string'],
  ['people', ['x', 12_321.5], 'has a fraction or more than 53 bits; declare string'],
])('%s with %j is refused without naming the values', async (statement, parameters, text) => {
  const message = await messageOf(statement, parameters)
  expect(message).toContain(text)
  expect(message).not.toMatch(/hunter2|12.?321/)
})

test.each([
  ['peple', 'allows people, some; did you mean people?'],
  ['grant', 'a capability that reads may use those with "reads": true alone'],
  ['select * from people', 'takes the name of a statement, and no text of one'],
])('the statement %j is refused with a reason', async (statement, text) => {
  expect(await messageOf(statement)).toContain(text)
})
