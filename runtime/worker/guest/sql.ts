/**
 * `ctx.sql`: each request crosses as a fetch of `sql:` with a JSON body. The host judges all of it again, and has the
 * texts of the statements.
 */
import {
  SQL_METHODS,
  SQL_URL,
  type Sql,
  type SqlPage,
} from '../../contract/connector/sql-context.ts'
import type { Call } from './calls.ts'
import { requestFor } from './fetch.ts'
import { stringifyJson } from './primordials.ts'

/** Makes `ctx.sql` of one call. */
export function makeSql(call: Call): Sql {
  const ask = async (method: string, body: object): Promise<unknown> =>
    (await requestFor(call, SQL_URL, method, stringifyJson(body) as string)).json()
  return {
    query: async (statement, parameters, options) => {
      const body = { statement, parameters, names: options?.names, page: options?.page }
      const { rows, cursor } = (await ask(SQL_METHODS.query, body)) as SqlPage
      return { rows: rows ?? [], cursor: cursor ?? null }
    },
    execute: async (statement, parameters, names) => {
      const reply = await ask(SQL_METHODS.execute, { statement, parameters, names })
      return (reply as { touched?: number[] }).touched?.[0] ?? 0
    },
    transaction: async (steps) => {
      const reply = await ask(SQL_METHODS.transaction, { steps })
      return (reply as { touched?: number[] }).touched ?? []
    },
  }
}
