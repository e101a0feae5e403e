import { expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { refusal, withStatement } from '../../../runtime/egress/sql/results.ts'

const told = (code: string, said: string): string => {
  const error = withStatement(refusal(code, said, 'db:5432'), 'teams', 'select titel from teams')
  return error instanceof RuntimeError ? error.message : ''
}

test.each([
  ['42703', 'column "titel" does not exist'],
  ['42601', 'syntax error at or near "form"'],
  ['1146', "Table 'hr.teams' doesn't exist"],
])('an error of a statement that is wrong as it stands (%s) names it', (code, said) => {
  expect(told(code, said)).toMatch(/\(the statement teams: select titel from teams\)$/)
})

test.each([
  ['42710', 'role "ada" already exists'],
  ['23505', 'duplicate key value'],
])('an error of what was asked for (%s) does not', (code, said) => {
  expect(told(code, said)).not.toContain('the statement')
})
