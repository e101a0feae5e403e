/**
 * Validates every answer to the core in the host. The worker has validated it too, but a guest that escaped
 * its sandbox controls what the worker sends.
 */
import * as v from 'valibot'
import { CAPABILITIES, type CapabilityName } from '../contract/capabilities/capabilities.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { entriesOf, isKeyOf, keysOf, mapValues } from '../contract/schema/keys.ts'
import { membersOf } from '../contract/schema/record.ts'
import { type AnySchema, schemaEntries, shapeOf } from '../contract/schema/shape.ts'
import { type TableOf, tableOfRows } from '../contract/schema/table.ts'

/**
 * Validator of a member. `anyText` and `nothing` cover most values, for which valibot takes many times as
 * long.
 */
type Judge = { anyText: boolean; nothing: boolean; other(value: unknown): boolean }

function judgeOf(schema: AnySchema): Judge {
  const { type, wrapped, pipe = [] } = shapeOf(schema)
  const nothing = type === 'nullish'
  if (nothing && wrapped !== undefined) return { ...judgeOf(wrapped), nothing }
  const isPlain = pipe.every(({ kind }) => kind === 'schema' || kind === 'metadata')
  const anyText = type === 'string' && isPlain
  return { anyText, nothing, other: (value) => v.is(schema, value) }
}

function areAll({ anyText, nothing, other }: Judge, values: readonly unknown[]): boolean {
  for (let n = 0; n < values.length; n += 1) {
    const value = values[n]
    if (typeof value === 'string' ? anyText : nothing && (value === null || value === undefined))
      continue
    // Most other values equal that of the previous row.
    if ((n === 0 || value !== values[n - 1]) && !other(value)) return false
  }
  return true
}

/** Capability -> validators of the members of its rows, or of its single answer. */
const JUDGES: Record<CapabilityName, Record<string, Judge>> = mapValues(CAPABILITIES, (row) => {
  const { item = row.output }: { item?: AnySchema } = shapeOf(row.output)
  return mapValues(schemaEntries(item), judgeOf)
})

export const isListing = (capability: CapabilityName): boolean =>
  shapeOf(CAPABILITIES[capability].output).type === 'array'

/**
 * Validates the answer of a capability that does not list. It may have members that its connector declares.
 *
 * @throws RuntimeError reply_invalid if it does not match the contract
 */
export function fittingAnswer(capability: CapabilityName, answer: unknown): unknown {
  fittingTable(capability, { rows: [answer] })
  return answer
}

/**
 * Validates the response of a capability that lists, and returns it as a table.
 *
 * @param listed rows, whose unknown members are dropped, or a parsed table
 * @throws RuntimeError reply_invalid if it does not match the contract
 */
export function fittingTable(
  capability: CapabilityName,
  listed: { rows: unknown } | { table: TableOf<Record<string, unknown>> },
): TableOf<Record<string, unknown>> {
  const judges = JUDGES[capability]
  const table = 'table' in listed ? listed.table : tableOf(capability, listed.rows, keysOf(judges))
  const { count, columns } = table
  if (!keysOf(columns).every((name) => isKeyOf(judges, name)))
    throw broken(capability, 'it has a member of another name')
  for (const [name, judge] of entriesOf(judges)) {
    const values = columns[name] ?? (count > 0 ? [undefined] : [])
    if (!areAll(judge, values))
      throw broken(capability, `it lacks ${name}, or has it in another form`)
  }
  return table
}

function tableOf(capability: CapabilityName, rows: unknown, names: readonly string[]) {
  if (!Array.isArray(rows)) throw broken(capability, 'it is no list')
  return tableOfRows(rows.map(membersOf), names)
}

const broken = (capability: string, why: string): RuntimeError =>
  new RuntimeError('reply_invalid', `The reply of ${capability} breaks the contract: ${why}`)
