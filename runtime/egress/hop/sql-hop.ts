/** Bridge of `ctx.sql`. */
import type { SqlRequest } from '../../contract/connector/sql.ts'
import { SQL_URL } from '../../contract/connector/sql-context.ts'
import { isSqlCode, sqlErrorOf } from '../../contract/connector/sql-states.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { membersOf } from '../../contract/schema/record.ts'
import type { EgressCall } from '../call/call.ts'
import { resolveSql, type SqlTarget } from '../rules/sql-rules.ts'
import type { SqlLogin } from '../sql/connect.ts'
import { loginOf } from '../sql/database-client.ts'
import { sqlServerError, textOf, withStatement } from '../sql/failures.ts'
import {
  describeRequest,
  judgeSqlRequest,
  nameOf,
  readSqlRequest,
  writes,
} from '../sql/sql-request.ts'
import { type Bridge, refusalCodeOf, targetsBy } from './bridge-hop.ts'

/** Reports whether a guest's request is one of `ctx.sql`. */
export const isSqlUrl = (url: string): boolean => url === SQL_URL

/** Returns the databases that a call may reach. @throws egress_setting */
export const sqlTargetsOf = (call: EgressCall): SqlTarget[] =>
  targetsBy(call, (entries, field) => {
    const { level, settings, manifest } = call
    return resolveSql(entries, { level, settings, statements: manifest.statements, field })
  })

/** Returns the fault of a reply written in a test case, or null. */
function misfitOf(rows: unknown, touched: unknown): string | null {
  if (rows === undefined && touched === undefined) return 'neither rows nor touched'
  if (rows !== undefined && !Array.isArray(rows)) return 'rows that are no list'
  const isCounts = Array.isArray(touched) && touched.every((one) => typeof one === 'number')
  return touched === undefined || isCounts ? null : 'touched that is no list of numbers'
}

export const SQL_BRIDGE: Bridge<SqlRequest, SqlTarget, SqlLogin> = {
  url: SQL_URL,
  read: readSqlRequest,
  judge: judgeSqlRequest,
  targets: sqlTargetsOf,
  signsIn: ({ credential }) => credential,
  login: loginOf,
  writes,
  tell: describeRequest,
  path: (request) => `/${nameOf(request).slice(0, 200)}`,
  text: textOf,
  addressOf: (request, { origin }) => `${origin}/${nameOf(request)}`,
  caseBody: ({ statement: _statement, ...rest }) => rest,
  async perform(request, target, login, wire, deps) {
    try {
      return await deps.sql.perform({ request, target, login }, wire)
    } catch (error) {
      throw withStatement(error, nameOf(request), textOf(request, target))
    }
  },
  found(body, from) {
    const reply = membersOf(body)
    const { error, message, rows, touched } = reply
    if (error === undefined) {
      const wrong = Array.isArray(body) ? 'a list' : misfitOf(rows, touched)
      if (wrong !== null)
        throw new RuntimeError(
          'upstream_garbled',
          `${from} answered ${wrong}: write { "rows": [...] } for a query, { "touched": [1] } with a number for each statement, or { "error": "23505" }`,
        )
      return { items: Array.isArray(rows) ? rows.length : 0 }
    }
    if (typeof error === 'string' && isSqlCode(error))
      throw sqlServerError(error, typeof message === 'string' ? message : '', from)
    throw new RuntimeError(
      'upstream_garbled',
      `${from} answered the error ${String(error).slice(0, 60)}, which is no code of a database: write 42710, 1062 or another one of the SQL page`,
    )
  },
  items: ({ operation }) => (operation === 'query' ? 'rows' : null),
  refusedBy(error) {
    const code = refusalCodeOf(error, 'database_refused')
    return code === null ? null : { name: code, status: sqlErrorOf(code).status }
  },
  refusal: ({ name }) => ({ error: name }),
}
