/**
 * Writes a manifest as types: the text of connector.types.ts, from which `keyway/sdk` types the credentials,
 * settings and capabilities of a connector. It is a file of its own because TypeScript widens the strings of
 * an imported JSON file, so that a kind of credential would be any string.
 */
import type { Manifest } from './manifest.ts'
import { answerFields } from './payload.ts'
import type { Field, Fields } from './settings.ts'
import type { SqlStatement, SqlType } from './sql.ts'
import { piecesOf } from './sql-text.ts'

/** Name of the file, next to connector.json. */
export const TYPES_FILE = 'connector.types.ts'

/** Returns the text of the file. The same manifest gives the same text. */
export function connectorTypes(manifest: Manifest): string {
  const { authentication_schema: single, credentials = [], settings } = manifest
  const { statements, capabilities } = manifest
  return [
    '// Written by Keyway from connector.json; do not edit.',
    'export type Connector = {',
    ...(single ? [`  auth: ${quoted(single.kind)}`] : []),
    ...(credentials.length > 0 ? members('credentials', credentials.map(credentialLine)) : []),
    ...members('settings', fieldLines(settings)),
    ...(Object.keys(statements).length > 0
      ? members('statements', Object.entries(statements).flatMap(statementLines))
      : []),
    ...members('capabilities', Object.entries(capabilities).flatMap(capabilityLines)),
    '}',
    '',
  ].join('\n')
}

const members = (name: string, lines: readonly string[]): string[] =>
  lines.length === 0
    ? [`  ${name}: object`]
    : [`  ${name}: {`, ...lines.map((line) => `    ${line}`), '  }']

type Credential = NonNullable<Manifest['credentials']>[number]
const credentialLine = ({ id, kind, optional }: Credential): string =>
  `${name(id)}${optional ? '?' : ''}: ${quoted(kind)}`

/** TypeScript type of each parameter type. Null is always allowed. */
const PARAMETERS: Readonly<Record<SqlType, string>> = {
  string: 'string | null',
  integer: 'number | null',
  number: 'number | null',
  boolean: 'boolean | null',
  strings: 'readonly string[] | null',
}

/** Maximum length of a list on one line. With the text before it, the line has 100 columns. */
const MAX_LIST_CHARS = 80

/** Returns the types of parameters, laid out as a source formatter does. */
const parameterLines = (types: readonly string[]): string[] => {
  const line = types.join(', ')
  return line.length <= MAX_LIST_CHARS
    ? [`  parameters: [${line}]`]
    : ['  parameters: [', ...types.map((type) => `    ${type},`), '  ]']
}

function statementLines([statement, declared]: [string, SqlStatement]): string[] {
  const { reads, parameters, text } = declared
  const names = piecesOf(text).flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name]))
  return [
    `${name(statement)}: {`,
    `  reads: ${reads}`,
    ...parameterLines(parameters.map((type) => PARAMETERS[type])),
    `  names: ${[...new Set(names)].map(quoted).join(' | ') || 'never'}`,
    '}',
  ]
}

type Capability = [name: string, declared: Manifest['capabilities'][string]]
function capabilityLines([capability, declared]: Capability): string[] {
  const { request_fields } = declared
  const response_fields = answerFields(capability, declared)
  const parts = [
    ...(request_fields ? members('request', fieldLines(request_fields)) : []),
    ...(Object.keys(response_fields).length > 0
      ? members('response', answerLines(response_fields))
      : []),
  ]
  return parts.length === 0
    ? [`${name(capability)}: unknown`]
    : [`${name(capability)}: {`, ...parts, '}']
}

const fieldLines = (fields: Fields): string[] =>
  Object.entries(fields).map(([field, one]) => `${name(field)}${mark(one)}: ${typeOf(one)}`)

/** Every field of a response may be left out. */
const answerLines = (fields: Fields): string[] =>
  Object.entries(fields).map(([field, one]) => `${name(field)}?: ${typeOf(one)} | null | undefined`)

/** A field with a default is always present. */
const mark = ({ required, default: value }: Field): string =>
  required === true || value !== undefined ? '' : '?'

function typeOf(field: Field): string {
  if (field.type === 'boolean') return 'boolean'
  if (field.type === 'integer') return 'number'
  return field.enum?.map(quoted).join(' | ') ?? 'string'
}

const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

const name = (text: string): string => (/^[a-zA-Z_]\w*$/.test(text) ? text : quoted(text))
