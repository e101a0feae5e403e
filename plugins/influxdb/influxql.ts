/** Quotes identifiers and strings for InfluxQL. Independent of capabilities. */
import { ConnectorError } from 'keyway/sdk'

/** Quotes the name of a user or a database. */
export const identifier = (name: string): string => `"${escaped(name).replaceAll('"', '\\"')}"`

/** Quotes a string, such as a password. */
export const text = (value: string): string => `'${escaped(value).replaceAll("'", "\\'")}'`

/**
 * Escapes backslashes and line feeds. The quote functions escape their quotes; InfluxQL has no other escapes.
 * It reads a carriage return as a line feed, and a NUL as the end of the statement, so neither can be
 * written. A lone surrogate would be sent as U+FFFD, which is a different name.
 *
 * @throws `invalid_value` if the value contains one of these
 */
function escaped(value: string): string {
  if (value.includes('\r') || value.includes('\0') || !value.isWellFormed())
    throw new ConnectorError(
      'invalid_value',
      `InfluxQL cannot write ${JSON.stringify(value)}: leave out carriage returns, NULs and halves of characters`,
    )
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
