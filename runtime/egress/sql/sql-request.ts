/** Reads and judges a request of `ctx.sql`: its form, its statements, and their parameters. */
import * as v from 'valibot'
import { describeIssue } from '../../contract/connector/payload.ts'
import {
  SQL_OPERATIONS,
  SQL_REQUESTS,
  SQL_TYPES,
  type SqlRequest,
  type StatementStep,
  sqlOperationOf,
  stepsOf,
} from '../../contract/connector/sql.ts'
import { sessionFault } from '../../contract/connector/sql-session.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { judgeSql, type SqlTarget, type Statements } from '../rules/sql-rules.ts'
import { readBody } from '../wire/request-body.ts'

/**
 * Parses the body of a request.
 *
 * @throws context_misused if it is not a request, egress_url outside of ctx.sql, egress_body if it is too large; the messages contain no values
 */
export const readSqlRequest = (method: string, body: Uint8Array | null): SqlRequest =>
  readBody({ bridge: 'sql', operation: sqlOperationOf(method), schemas: SQL_REQUESTS }, body)

/**
 * Returns the target that allows the whole request: its statements and their parameters.
 *
 * @throws egress_undeclared, context_misused
 */
export function judgeSqlRequest(request: SqlRequest, targets: readonly SqlTarget[]): SqlTarget {
  const steps = stepsOf(request)
  const names = steps.map(({ statement }) => statement)
  const target = judgeSql(request.operation, names, targets)
  for (const step of steps) {
    judgeSession(step, target)
    judgeParameters(step, target.statements)
  }
  return target
}

/** Usually refused at install; the manifest may have been installed before that check existed. */
function judgeSession({ statement }: StatementStep, { statements, dialect }: SqlTarget): void {
  const declared = statements[statement]
  const fault = declared === undefined ? null : sessionFault(dialect, declared)
  if (fault !== null)
    throw new RuntimeError('egress_undeclared', `The statement ${statement} ${fault}`)
}

function judgeParameters({ statement, parameters }: StatementStep, statements: Statements): void {
  // Cannot be missing: `judgeSql` has found it.
  const declared = statements[statement]?.parameters ?? []
  if (declared.length !== parameters.length)
    throw new RuntimeError(
      'context_misused',
      `The statement ${statement} takes ${counted(declared.length)}${listOf(declared)}, and got ${parameters.length}`,
    )
  for (const [index, type] of declared.entries()) {
    const value = parameters[index]
    if (value === null) continue
    const schema: v.GenericSchema = SQL_TYPES[type]
    const read = v.safeParse(schema, value)
    if (read.success) continue
    throw new RuntimeError(
      'context_misused',
      `Parameter $${index + 1} of the statement ${statement} is declared as ${type}: ${misfit(value, read.issues[0])}`,
    )
  }
}

const counted = (count: number): string => (count === 1 ? '1 parameter' : `${count} parameters`)

/** Returns the declared parameters as statements write them: ` ($1 string, $2 integer)`. */
const listOf = (types: readonly string[]): string =>
  types.length === 0
    ? ''
    : ` (${types
        .slice(0, MAX_LISTED)
        .map((type, index) => `$${index + 1} ${type}`)
        .join(', ')}${types.length > MAX_LISTED ? ', ...' : ''})`

/** Maximum number of parameters that a message lists. */
const MAX_LISTED = 10

/** Describes why a value is not of its declared type, without the value. */
function misfit(value: unknown, issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'safe_integer')
    return 'the number has a fraction or more than 53 bits; declare string, which does for every type of column'
  const asked = describeIssue(issue, '', () => true)
  return issue.kind === 'schema' ? `${asked}, got ${kindOf(value)}` : asked
}

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'an array' : `a ${typeof value}`)

/** Returns the names and sizes of a request, without values, for its record. */
export function describeRequest(request: SqlRequest): string {
  const steps = stepsOf(request)
  const count = (of: (step: StatementStep) => number) =>
    steps.reduce((sum, one) => sum + of(one), 0)
  const parameters = count((one) => one.parameters.length)
  const names = [...new Set(steps.flatMap((one) => Object.keys(one.names)))]
  const parts = [
    ...(parameters > 0 ? [`parameters=${parameters}`] : []),
    ...(names.length > 0 ? [`names=${names.join(',')}`] : []),
    ...(request.operation === 'query' && request.page?.cursor ? ['page=next'] : []),
  ]
  return parts.length === 0 ? '' : `?${parts.join('&').slice(0, 200)}`
}

/** Returns the statements of a request as one word, for its URL. */
export const nameOf = (request: SqlRequest): string =>
  stepsOf(request)
    .map(({ statement }) => statement)
    .join('+')

/** Reports whether a request may change data. */
export const writes = ({ operation }: SqlRequest): boolean => SQL_OPERATIONS[operation].writes
