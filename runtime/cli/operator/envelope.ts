/** Reads the credentials and settings of a call from a file. */
import { readFile } from 'node:fs/promises'
import { ConfigError } from '../../config/config.ts'
import { notJson } from '../../contract/schema/json-text.ts'
import { membersOf } from '../../contract/schema/record.ts'
import { fileFault } from '../terminal/file-fault.ts'

export type Envelope = {
  auth?: unknown
  credentials?: unknown
  settings?: unknown
}

/** Parses the JSON in a file, or in the text itself if it begins like JSON. */
export async function jsonOf(given: string, what: string): Promise<unknown> {
  const inline = /^\s*[[{]/.test(given)
  const text = inline
    ? given
    : await readFile(given, 'utf8').catch((error: unknown) => {
        throw fileFault(given, error, `${what} takes a file with JSON`)
      })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError(`${what}: ${notJson(inline ? 'it' : given, error)}`)
  }
}

/** Reads an envelope from a file: `auth` or `credentials`, and `settings`. */
export async function envelopeFrom(file: string): Promise<Envelope> {
  const value = await jsonOf(file, '--as')
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError('--as: write { "auth": { ... }, "settings": { ... } }')
  const { auth, credentials, settings, ...rest } = membersOf(value)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw new ConfigError(`--as: there is no ${unknown}; write auth or credentials, and settings`)
  return { auth, credentials, settings }
}
