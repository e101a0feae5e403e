import { expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { sqlServerError, withStatement } from '../../../runtime/egress/sql/failures.ts'

const messageOf = (code: string, said: string): string => {
  const error = withStatement(
    sqlServerError(code, said, 'db:5432'),
    'teams',
    'select titel from teams',
  )
  return error instanceof RuntimeError ? error.message : ''
}

test.each([
  ['42703', 'column "titel" does not exist'],
  ['42601', 'syntax error at or near "form"'],
  ['1146', "Table 'hr.teams' doesn't exist"],
])('an error in the text of a statement (%s) names the statement', (code, said) => {
  expect(messageOf(code, said)).toMatch(/\(the statement teams: select titel from teams\)$/)
})

test.each([
  ['42710', 'role "ada" already exists'],
  ['23505', 'duplicate key value'],
])('an error caused by the request (%s) does not name the statement', (code, said) => {
  expect(messageOf(code, said)).not.toContain('the statement')
})

test.each([
  ['0A000', 'cannot set transaction read-write mode during recovery'],
  ['1290', 'The MariaDB server is running with the --read-only option so it cannot execute this'],
])('an error of a replica (%s) suggests the address of the writable server', (code, said) => {
  expect(messageOf(code, said)).toContain('Give the app the address of the one that does')
})

test.each([
  ['0A000', 'cannot copy to a view'],
  ['1290', 'The MariaDB server is running with the --secure-file-priv option'],
])('another error with the same code (%s) does not mention a replica', (code, said) => {
  expect(messageOf(code, said)).not.toContain('replica')
})
