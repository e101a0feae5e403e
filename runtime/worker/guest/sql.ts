/**
 * `ctx.sql`: each request crosses as a fetch of `sql:` with a JSON body. The host validates all of it again
 * and holds the texts of the statements.
 */
import {
  SQL_METHODS,
  SQL_URL,
  type Sql,
  type SqlPage,
} from '../../contract/connector/sql-context.ts'
import type { GuestCall } from './calls.ts'
import { requestFor } from './fetch.ts'
import { own } from './own.ts'
import { isArray, isFiniteNumber, jsonText } from './primordials.ts'

/** Returns the number of rows that each statement touched, as reported by the host. */
function touchedIn(reply: unknown): number[] {
  const touched = own(reply, 'touched')
  return isArray(touched) ? touched : []
}

/**
 * Refuses parameters that JSON would turn into null: a missing member would be written as no value.
 *
 * @throws TypeError naming the parameter as statements do ($1)
 */
function refuseNothings(statement: unknown, parameters: unknown): void {
  if (!isArray(parameters)) return
  for (let i = 0; i < parameters.length; i += 1) {
    const value: unknown = parameters[i]
    const isNothing = typeof value === 'number' ? !isFiniteNumber(value) : value === undefined
    if (isNothing)
      throw new TypeError(
        `$${i + 1} of the statement ${statement} is ${value}; write null for no value (?? null)`,
      )
  }
}

/** Makes `ctx.sql` of one call. */
export function makeSql(call: GuestCall): Sql {
  const ask = async (method: string, body: object): Promise<unknown> =>
    (await requestFor(call, SQL_URL, method, jsonText(body))).json()
  return {
    query: async (statement, parameters, options) => {
      refuseNothings(statement, parameters)
      const body = { statement, parameters, names: options?.names, page: options?.page }
      // The cast: the host makes the answer.
      const { rows, cursor } = (await ask(SQL_METHODS.query, body)) as SqlPage
      return { rows: rows ?? [], cursor: cursor ?? null }
    },
    execute: async (statement, parameters, names) => {
      refuseNothings(statement, parameters)
      const reply = await ask(SQL_METHODS.execute, { statement, parameters, names })
      return touchedIn(reply)[0] ?? 0
    },
    transaction: async (steps) => {
      for (let i = 0; isArray(steps) && i < steps.length; i += 1)
        refuseNothings(own(steps[i], 'statement'), own(steps[i], 'parameters'))
      const reply = await ask(SQL_METHODS.transaction, { steps })
      return touchedIn(reply)
    },
  }
}
