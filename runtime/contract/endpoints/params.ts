/**
 * Query parameters: converts repeated strings to values, with the messages and types of the public service's
 * 422 entries (core-interface.md section 3). One object defines how a parameter is parsed and described.
 */

import type { ValidationEntry } from '../errors/problem.ts'
import { parseDatetime } from '../schema/datetime.ts'

/**
 * Result of a parser: the value, or what is wrong with it, and the index of the wrong one if there are
 * several.
 */
type Parsed<T> =
  | { ok: true; value: T }
  | { ok: false; entries: Omit<ValidationEntry, 'loc'>[]; index?: number }

export type Param<T = unknown> = {
  /** Parses all values of the key in order. They are empty if the key is absent. */
  parse(values: readonly string[]): Parsed<T>
  jsonSchema: Record<string, unknown>
  /** Whether the key may be repeated. */
  many: boolean
  required: boolean
  describe(description: string): Param<T>
  description: string
}

export type Params = Record<string, Param>
export type ParamValues<P extends Params> = {
  [K in keyof P]: P[K] extends Param<infer T> ? T : never
}

const ok = <T>(value: T): Parsed<T> => ({ ok: true, value })
const wrong = (type: string, msg: string, index?: number): Parsed<never> => ({
  ok: false,
  entries: [{ type, msg }],
  ...(index === undefined ? {} : { index }),
})

/** Makes a parameter of any kind. */
export function param<T>(
  parse: Param<T>['parse'],
  jsonSchema: Param['jsonSchema'],
  more: Partial<Param<T>> = {},
): Param<T> {
  const made: Param<T> = {
    parse,
    jsonSchema,
    many: false,
    required: false,
    description: '',
    ...more,
    describe: (description) => ({ ...made, description }),
  }
  return made
}

/** If a key is repeated, its last value counts. */
const last = (values: readonly string[]): string | undefined => values.at(-1)

/** An integer within bounds. */
export function int({
  min,
  max,
  default: absent,
}: {
  min?: number
  max?: number
  default: number
}): Param<number> {
  return param(
    (values) => {
      const text = last(values)
      if (text === undefined) return ok(absent)
      if (!/^\s*[+-]?[0-9]+(\.0+)?\s*$/.test(text) || !Number.isSafeInteger(Number(text)))
        return wrong(
          'int_parsing',
          'Input should be a valid integer, unable to parse string as an integer',
        )
      const value = Number(text)
      if (min !== undefined && value < min)
        return wrong('greater_than_equal', `Input should be greater than or equal to ${min}`)
      if (max !== undefined && value > max)
        return wrong('less_than_equal', `Input should be less than or equal to ${max}`)
      return ok(value)
    },
    {
      type: 'integer',
      default: absent,
      ...(min === undefined ? {} : { minimum: min }),
      ...(max === undefined ? {} : { maximum: max }),
    },
  )
}

const TRUE = ['true', '1', 'on', 't', 'yes', 'y']
const FALSE = ['false', '0', 'off', 'f', 'no', 'n']

/** A boolean in any of the usual spellings. `absent` is the value for a missing key, which may be null. */
export function bool<D extends boolean | null>(absent: D): Param<boolean | D> {
  return param<boolean | D>(
    (values) => {
      const text = last(values)?.toLowerCase()
      if (text === undefined) return ok(absent)
      if (TRUE.includes(text)) return ok(true)
      if (FALSE.includes(text)) return ok(false)
      return wrong('bool_parsing', 'Input should be a valid boolean, unable to interpret input')
    },
    absent === null ? { type: ['boolean', 'null'] } : { type: 'boolean', default: absent },
  )
}

/** An optional string. A NUL cannot be stored and matches nothing. */
export const text = (): Param<string | null> =>
  param((values) => ok(last(values) ?? null), { type: ['string', 'null'] })

/** A required string. */
export const requiredText = (): Param<string> =>
  param(
    (values) => {
      const value = last(values)
      return value === undefined ? wrong('missing', 'Field required') : ok(value)
    },
    { type: 'string' },
    { required: true },
  )

/** Any number of strings. */
export const texts = (): Param<string[]> =>
  param((values) => ok([...values]), { type: 'array', items: { type: 'string' } }, { many: true })

/** One of the options, or absent. */
export const oneOf = <const T extends string>(options: readonly T[]): Param<T | null> =>
  param(
    (values) => {
      const value = last(values)
      if (value === undefined) return ok(null)
      const found = options.find((one) => one === value)
      return found === undefined ? wrong('enum', enumWords(options)) : ok(found)
    },
    { enum: [...options, null] },
  )

/** Any number of the options. */
export const manyOf = <const T extends string>(options: readonly T[]): Param<T[]> =>
  param(
    (values) => {
      const isOption = (value: string): value is T => options.some((one) => one === value)
      const index = values.findIndex((value) => !isOption(value))
      return index === -1 ? ok(values.filter(isOption)) : wrong('enum', enumWords(options), index)
    },
    { type: 'array', items: { enum: [...options] } },
    { many: true },
  )

/** An optional point in time: without a zone (UTC), with a zone, a date alone, or Unix seconds. */
export const datetime = (): Param<Date | null> =>
  param(
    (values) => {
      const value = last(values)
      if (value === undefined) return ok(null)
      const parsed = parseDatetime(value)
      return parsed
        ? ok(parsed)
        : wrong(
            'datetime_from_date_parsing',
            'Input should be a valid datetime or date, invalid character in year',
          )
    },
    { type: ['string', 'null'], format: 'date-time' },
  )

/** Past moment whose state a list shows. If absent, the list shows the current state. */
export const asOf: Param<Date | null> = datetime().describe(
  'State at this time, from the last complete sync before it (RFC 3339)',
)

/** The parameters `page` and `size` of service.md section 8.2. */
export const pageParams = {
  page: int({ min: 1, default: 1 }).describe('Page number, starting at 1'),
  size: int({ min: 1, max: 100, default: 50 }).describe('Page size'),
}

/** Returns pydantic's message for a value outside an enumeration: `'A', 'B' or 'C'`. */
export function enumWords(options: readonly string[]): string {
  const quoted = options.map((option) => `'${option}'`)
  const end = quoted.pop() ?? ''
  return `Input should be ${quoted.length === 0 ? end : `${quoted.join(', ')} or ${end}`}`
}

/** Parses all parameters of a query. Reports every problem, in the order of declaration. */
export function parseParams<P extends Params>(
  params: P,
  query: URLSearchParams,
): { values: ParamValues<P>; entries: ValidationEntry[] } {
  const entries: ValidationEntry[] = []
  const values: Record<string, unknown> = {}
  for (const [name, one] of Object.entries(params)) {
    const parsed = one.parse(query.getAll(name))
    if (parsed.ok) values[name] = parsed.value
    else {
      const loc = ['query', name, ...(parsed.index === undefined ? [] : [parsed.index])]
      entries.push(...parsed.entries.map(({ msg, type }) => ({ loc, msg, type })))
    }
  }
  // The cast holds: each value was parsed by the parameter of its name, and if one failed, there are entries.
  return { values: values as ParamValues<P>, entries }
}
