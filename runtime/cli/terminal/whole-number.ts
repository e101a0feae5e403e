/** Numbers on the command line. */
import { InvalidArgumentError } from 'commander'

/** @throws InvalidArgumentError */
export function parseWholeNumber(text: string): number {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Must be a whole number.')
}
