/** Names and texts as InfluxQL writes them. Knows no capability. */
import { ConnectorError } from 'keyway/sdk'

/** A name, quoted: of a user or a database. */
export const identifier = (name: string): string => `"${escaped(name).replaceAll('"', '\\"')}"`

/** A text, quoted: a password. */
export const text = (value: string): string => `'${escaped(value).replaceAll("'", "\\'")}'`

/**
 * InfluxQL has these escapes and no others. It reads a carriage return as a line feed, and a NUL as the end of
 * the statement, so neither can be written. Half of a character would be sent as U+FFFD, a name of its own.
 *
 * @throws invalid_value for a text that holds one of these
 */
function escaped(value: string): string {
  if (value.includes('\r') || value.includes('\0') || !value.isWellFormed())
    throw new ConnectorError(
      'invalid_value',
      `InfluxQL cannot write ${JSON.stringify(value)}: leave out carriage returns, NULs and halves of characters`,
    )
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
