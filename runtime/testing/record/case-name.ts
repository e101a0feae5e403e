/** Default names of recorded cases. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Case } from '../../contract/connector/cases.ts'
import { membersOf } from '../../contract/schema/record.ts'

/** Maximum length of a name, in characters. A longer one is truncated. */
const MAX_NAME_LENGTH = 80

/** Maximum length of the names that earlier versions gave. */
const MAX_FORMER_LENGTH = 120

/** Call that a case records: its request, and the error in which it ended. */
type NamedCall = Pick<Case, 'capability' | 'request' | 'error'>

/**
 * Returns the name of a call in a file: its capability, the values of its request, and its error. The same
 * call gets the same name again. A call that fails does not replace the case of one that succeeds. If the
 * name is truncated, leaves out a value, or belongs to another request of the file, it ends in a hash.
 *
 * @param cases Cases of the file, as written. A case keeps the name that an earlier version gave it.
 */
export function caseName(call: NamedCall, cases: readonly unknown[]): string {
  const values = Object.entries(call.request)
    .filter(isNamed)
    .map(([name, value]) => (typeof value === 'string' ? value : `${name} ${value}`))
  const short = `recorded ${headOf(call, values)}`
  const marked = withHash(short, call, MAX_NAME_LENGTH)
  const held = (name: string) => cases.map(membersOf).filter((one) => one['name'] === name)
  const known = [marked, formerName(call), short].find((name) =>
    held(name).some(({ request = {} }) => isDeepStrictEqual(request, call.request)),
  )
  if (known !== undefined) return known
  return isWhole(short, call, MAX_NAME_LENGTH) && held(short).length === 0 ? short : marked
}

/** Returns the name that earlier versions gave: each value after the name of its field. */
function formerName(call: NamedCall): string {
  const values = Object.entries(call.request)
    .filter(isNamed)
    .map(([name, value]) => `${name} ${value}`)
  const name = `recorded ${headOf(call, values)}`
  return isWhole(name, call, MAX_FORMER_LENGTH) ? name : withHash(name, call, MAX_FORMER_LENGTH)
}

const headOf = ({ capability, error }: NamedCall, values: readonly string[]): string =>
  `${capability}${values.length === 0 ? '' : `: ${values.join(', ')}`}${error === undefined ? '' : ` (${error.error_code})`}`

function withHash(name: string, { capability, request, error }: NamedCall, length: number): string {
  const whole = JSON.stringify([capability, request, error?.error_code])
  const mark = `... ${createHash('sha256').update(whole).digest('hex').slice(0, 8)}`
  return `${name.slice(0, length - mark.length)}${mark}`
}

/** Reports whether a name is short enough, and shows every value. */
const isWhole = (name: string, { request }: NamedCall, length: number): boolean =>
  name.length <= length && !Object.values(request).some(isFilled)

const isNamed = ([, value]: [string, unknown]): boolean => typeof value !== 'object' && value !== ''

/** Reports whether a value does not appear in names, such as a list of entitlements. */
const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0
