/** Duration of requested access in seconds, or null if unlimited. */
import { invalidAt } from '../../contract/errors/problem.ts'
import { ACCESS_LENGTHS, type AccessLength } from '../../contract/models/access-length.ts'
import type { CreateAccessRequestInput } from '../../contract/models/access-request.ts'
import type { RequestConfig } from './config.ts'

type Wanted = Pick<CreateAccessRequestInput, 'expiration_in_seconds' | 'access_length'>

/**
 * Returns the requested length, within the lengths that the settings offer. Without a wanted length it is the
 * default of the app's settings if that is offered, else unlimited if that is permitted.
 *
 * @throws CoreError invalid
 */
export function durationOf(
  wanted: Wanted,
  { lengths, defaultLength }: RequestConfig,
): number | null {
  const { expiration_in_seconds: given, access_length: named } = wanted
  if (given !== undefined && named !== undefined)
    throw refused('access_length', 'give either expiration_in_seconds or access_length')
  const free = lengths.length === 0 || lengths.includes('Unlimited')
  const choice = `one of ${lengths.map((one) => JSON.stringify(one)).join(', ')}`
  if (named !== undefined) {
    if (lengths.length > 0 && !lengths.includes(named))
      throw refused('access_length', `here it must be ${choice}`)
    return ACCESS_LENGTHS[named]
  }
  if (given !== undefined) {
    const longest = Math.max(...lengths.map((one) => ACCESS_LENGTHS[one] ?? Infinity))
    if (!free && given > longest)
      throw refused('expiration_in_seconds', `here it can be at most ${longest}`)
    return given
  }
  if (defaultLength !== null && lengths.includes(defaultLength)) return secondsOf(defaultLength)
  if (!free) throw refused('access_length', `give a duration: ${choice}`)
  return null
}

const secondsOf = (length: AccessLength): number | null => ACCESS_LENGTHS[length]

const refused = (member: string, words: string) =>
  invalidAt(['body', member], `Value error, ${words}`)
