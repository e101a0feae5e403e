/** Reports where two JSON values differ, so that authors need not compare two long lines by eye. */
import { isObject } from '../contract/schema/record.ts'

/** Maximum number of differences reported for one comparison. */
const MAX_TOLD = 3

/**
 * Returns texts like `response[0].username should be "ada", is "bo"`, none if the values are equal. The order
 * of members does not matter, and a member that is `undefined` counts as missing.
 */
export function differences(what: string, expected: unknown, found: unknown): string[] {
  const all = [...walk(what, expected, found)]
  const more = all.length - MAX_TOLD
  return more > 0 ? [...all.slice(0, MAX_TOLD), `${what} differs in ${more} more places`] : all
}

function* walk(at: string, expected: unknown, found: unknown): Generator<string> {
  if (Array.isArray(expected) && Array.isArray(found)) {
    const shared = Math.min(expected.length, found.length)
    for (let index = 0; index < shared; index++)
      yield* walk(`${at}[${index}]`, expected[index], found[index])
    for (const [index, one] of expected.slice(shared).entries())
      yield `${at}[${shared + index}] should be ${show(one)}, is missing`
    for (const [index, one] of found.slice(shared).entries())
      yield `${at}[${shared + index}] should be absent, is ${show(one)}`
  } else if (isObject(expected) && isObject(found)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(found)]))
      yield* member(`${at}${memberName(name)}`, own(expected, name), own(found, name))
  } else if (!Object.is(expected, found)) {
    yield `${at} should be ${show(expected)}, is ${show(found)}`
  }
}

function* member(at: string, expected: unknown, found: unknown): Generator<string> {
  if (expected === undefined && found === undefined) return
  if (found === undefined) yield `${at} should be ${show(expected)}, is missing`
  else if (expected === undefined) yield `${at} should be absent, is ${show(found)}`
  else yield* walk(at, expected, found)
}

const own = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined

const memberName = (name: string): string =>
  /^[a-z_]\w*$/i.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 500) ?? 'nothing'
