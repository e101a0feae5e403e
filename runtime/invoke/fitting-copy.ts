/**
 * A fast path for validation: copies a value that conforms to a flat schema, as nearly all requests do, without running
 * the schema. Anything else is left to the schema, which also reports errors.
 */
import * as v from 'valibot'
import { isRecord } from '../contract/schema/record.ts'
import { type AnySchema, shapeOf } from '../contract/schema/shape.ts'

/** The value must be validated by the schema. */
export const MISFIT: unique symbol = Symbol('misfit')

/** Returns the same as the schema's output, or MISFIT. */
type FittingCopy = (value: unknown) => unknown

const made = new WeakMap<AnySchema, FittingCopy>()

/** Returns the copier of a schema; created once per schema. */
export function fittingCopy(schema: AnySchema): FittingCopy {
  const known = made.get(schema)
  if (known) return known
  const copy = make(schema)
  made.set(schema, copy)
  return copy
}

const neverFits: FittingCopy = () => MISFIT

function make(schema: AnySchema): FittingCopy {
  const { type, entries, wrapped, pipe = [] } = shapeOf(schema)
  // Only metadata is supported in a pipe; validations and transformations need the schema.
  if (pipe.slice(1).some(({ kind }) => kind !== 'metadata')) return neverFits
  if (type === 'string' || type === 'boolean')
    return (value) => (typeof value === type ? value : MISFIT)
  if (isOptional(schema) && wrapped) {
    const inner = fittingCopy(wrapped)
    return (value) => (value === undefined || value === null ? MISFIT : inner(value))
  }
  return type === 'object' && entries ? ofObject(entries) : neverFits
}

/** Whether a member may be missing; it then gets its default. */
const isOptional = (schema: AnySchema): boolean =>
  ['optional', 'nullish'].includes(shapeOf(schema).type)

function ofObject(entries: Record<string, AnySchema>): FittingCopy {
  const members = Object.entries(entries).map(([name, schema]) => ({
    name,
    schema,
    copy: fittingCopy(schema),
    mayBeMissing: isOptional(schema) && shapeOf(schema).default !== undefined,
  }))
  return (value) => {
    if (!isRecord(value) || Array.isArray(value)) return MISFIT
    const given = value
    const copied: Record<string, unknown> = {}
    for (const { name, schema, copy, mayBeMissing } of members) {
      if (name in given) {
        const member = copy(given[name])
        if (member === MISFIT) return MISFIT
        copied[name] = member
      } else if (mayBeMissing) copied[name] = v.getDefault(schema)
      else return MISFIT
    }
    return copied
  }
}
