/** Asks on a terminal for the credentials and settings of a call, value by value. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { ConfigError } from '../../config/config.ts'
import { visible } from '../../observe/visible.ts'
import { type Envelope, jsonOf } from './envelope.ts'

type Schema = {
  properties?: Record<string, Schema>
  required?: string[]
  title?: string
  description?: string
  default?: unknown
  type?: string | string[]
  enum?: unknown[]
  'x-secret'?: boolean
}

/** Fields of one kind of credentials. The kind is the member of the envelope in which they are sent. */
type Credential = Schema & { 'x-credential-type'?: string }

/** Credentials and settings that a connector needs according to `info`, as JSON Schema. */
export type ConnectorInfo = {
  /** Without `info` itself. */
  capabilities: readonly string[]
  authentication_schema: Credential
  credentials_schema: (Credential & { id: string; 'x-optional'?: boolean })[]
  request_settings_schema: Schema
}

/**
 * Asks for each value. Secrets are not shown while they are typed.
 *
 * @throws ConfigError if there is no terminal, or if the user ends the input
 */
export async function askFor(info: ConnectorInfo): Promise<Envelope> {
  if (!process.stdin.isTTY)
    throw new ConfigError('give the credentials with --as: there is no terminal to ask on')
  const { authentication_schema: single, credentials_schema, request_settings_schema } = info
  const auth = await askCredential(single)
  const credentials: object[] = []
  for (const one of credentials_schema) {
    const title = visible(one.title ?? one.id)
    if (one['x-optional'] && !isYes(await question(`Give ${title}? [y/N] `, false))) continue
    credentials.push({ id: one.id, ...(await askCredential(one)) })
  }
  return {
    ...(auth ? { auth } : {}),
    ...(credentials_schema.length === 0 ? {} : { credentials }),
    settings: await askFields(request_settings_schema),
  }
}

async function askCredential(schema: Credential): Promise<Record<string, unknown> | null> {
  const kind = schema['x-credential-type']
  return kind === undefined ? null : { [kind]: await askFields(schema) }
}

async function askFields({ properties = {}, required = [] }: Schema): Promise<object> {
  const given: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(properties)) {
    if (field.description !== undefined) process.stderr.write(`${visible(field.description)}\n`)
    const value = await askValue(field, name, required.includes(name))
    if (value !== undefined) given[name] = value
  }
  return given
}

async function askValue(field: Schema, name: string, isRequired: boolean): Promise<unknown> {
  const isNeeded = isRequired && field.default === undefined
  const isObject = [field.type].flat().includes('object')
  const hints = [
    ...(isObject ? ['JSON, or a file with it'] : []),
    ...(field.enum ? [field.enum.filter((one) => one !== null).join(', ')] : []),
    ...(field.default === undefined ? [] : [`default: ${field.default}`]),
    ...(isNeeded || field.default !== undefined ? [] : ['optional']),
  ]
  const hint = hints.length === 0 ? '' : ` (${hints.join('; ')})`
  const words = visible(`${field.title ?? name}${hint}: `)
  // The key of a service account is given as the name of its file, which is not secret and should be visible.
  const isSecret = field['x-secret'] === true && !isObject
  for (;;) {
    const text = await question(words, isSecret)
    if (text === '' && !isNeeded) return undefined
    const value = text === '' ? undefined : await parsed(text, field, name)
    if (value !== undefined) return value
  }
}

/** Parses the input for a field. Undefined if it is not valid. */
async function parsed(text: string, { type }: Schema, name: string): Promise<unknown> {
  const types = [type].flat()
  if (types.includes('integer')) return /^-?[0-9]{1,15}$/.test(text) ? Number(text) : undefined
  if (types.includes('boolean')) return isYes(text)
  if (types.includes('array')) return text.split(/[\s,]+/)
  return types.includes('object') ? jsonOf(text, name) : text
}

const isYes = (text: string): boolean => /^(y|yes|true|1)$/i.test(text)

async function question(text: string, isSecret: boolean): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({
    input: process.stdin,
    output: isSecret ? silent : process.stderr,
    terminal: true,
  })
  if (isSecret) process.stderr.write(text)
  try {
    const ended = new Promise<never>((_resolve, reject) => {
      terminal.once('close', () => reject(new ConfigError('ended; nothing was sent')))
    })
    return (await Promise.race([terminal.question(isSecret ? '' : text), ended])).trim()
  } finally {
    terminal.close()
    if (isSecret) process.stderr.write('\n')
  }
}
