/** For whom a call is: credentials and settings from a file, or asked for one by one. */
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { ConfigError } from '../../config.ts'

export type Envelope = {
  auth?: unknown
  credentials?: unknown
  settings?: unknown
}

/** What `info` says is needed; as JSON Schema. */
export type Info = {
  authentication_schema: Schema
  credentials_schema: { id: string; schema: Schema }[]
  request_settings_schema: Schema
}
export type Schema = {
  properties?: Record<string, Schema>
  required?: string[]
  title?: string
  default?: unknown
  type?: string | string[]
  enum?: unknown[]
  'x-secret'?: boolean
  'x-field_type'?: string
}

/** JSON of a file, or of the text itself where it begins like JSON. */
export async function jsonOf(given: string, what: string): Promise<unknown> {
  const inline = /^\s*[[{]/.test(given)
  const text = inline
    ? given
    : await readFile(given, 'utf8').catch((error: Error) => {
        throw new ConfigError(`${what}: ${given} cannot be read: ${error.message}`)
      })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError(
      `${what}: ${inline ? 'it' : given} is not JSON: ${(error as Error).message}`,
    )
  }
}

/** The members of an envelope that a file holds: `auth` or `credentials`, and `settings`. */
export async function envelopeOf(file: string): Promise<Envelope> {
  const value = await jsonOf(file, '--as')
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError('--as: write { "auth": { ... }, "settings": { ... } }')
  const { auth, credentials, settings, ...rest } = value as Record<string, unknown>
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw new ConfigError(`--as: there is no ${unknown}; write auth or credentials, and settings`)
  return { auth, credentials, settings }
}

/** Asks for each value; what is secret is not shown while it is typed. */
export async function askFor({
  authentication_schema,
  credentials_schema,
  request_settings_schema,
}: Info): Promise<Envelope> {
  if (!process.stdin.isTTY)
    throw new ConfigError('say by --as <file> with which credentials: nobody can be asked here')
  const auth = await askSchema(authentication_schema, '')
  const credentials: unknown[] = []
  for (const { id, schema } of credentials_schema)
    credentials.push({ id, ...Object(await askSchema(schema, `${id}.`)) })
  return {
    ...(auth === undefined ? {} : { auth }),
    ...(credentials.length === 0 ? {} : { credentials }),
    settings: (await askSchema(request_settings_schema, 'settings.')) ?? {},
  }
}

async function askSchema(schema: Schema, prefix: string): Promise<unknown> {
  const { properties } = schema
  if (!properties) return undefined
  const given: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(properties)) {
    const required = schema.required?.includes(name) ?? false
    const value = field.properties
      ? await askSchema(field, `${prefix}${name}.`)
      : await askValue(field, `${prefix}${name}`, required)
    if (value !== undefined) given[name] = value
  }
  return given
}

async function askValue(field: Schema, name: string, required: boolean): Promise<unknown> {
  const secret = field['x-secret'] === true || field['x-field_type'] === 'SECRET'
  const hint = field.default === undefined ? (required ? '' : ' (optional)') : ` [${field.default}]`
  const text = await question(`${name}${hint}: `, secret)
  if (text === '') return undefined
  const types = [field.type].flat()
  if (types.includes('integer') || types.includes('number')) return Number(text)
  if (types.includes('boolean')) return /^(y|yes|true|1)$/i.test(text)
  return types.includes('array') ? text.split(/[\s,]+/) : text
}

async function question(text: string, secret: boolean): Promise<string> {
  process.stderr.write(text)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({
    input: process.stdin,
    output: secret ? silent : process.stderr,
    terminal: true,
  })
  try {
    return (await terminal.question('')).trim()
  } finally {
    terminal.close()
    if (secret) process.stderr.write('\n')
  }
}
