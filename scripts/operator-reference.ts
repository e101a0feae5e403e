/**
 * Parts of the documentation pages about the operator's endpoints and the command line, generated from their
 * tables.
 */
import type { Command } from 'commander'
import { createProgram, verbsOf } from '../runtime/cli/program.ts'
import { WANT_KINDS } from '../runtime/contract/endpoints/generation.ts'
import { OPERATOR_ENDPOINTS, type OperatorRow } from '../runtime/contract/endpoints/operator.ts'
import { CAUSES } from '../runtime/contract/models/causes.ts'
import type { AnySchema } from '../runtime/contract/schema/shape.ts'
import { schemaEntries } from '../runtime/contract/schema/shape.ts'
import { createComponents } from '../runtime/http/schemas/json-schema.ts'
import { nameOf, parameters } from './core-reference.ts'
import { code, type Parts, table } from './markdown.ts'
import { members } from './schema-shape.ts'

/** OPERATOR_PARTS: marker in a page -> text written after it. */
export const OPERATOR_PARTS: Parts = {
  'operator-endpoints': endpoints,
  causes,
  wants,
  'shared-options': () =>
    table(
      ['option', 'meaning'],
      Object.entries(SHARED).map(([flag, meaning]) => [code(flag), meaning]),
    ),
  commands,
}

/** Describes a body in one line. */
const describe = (body: AnySchema): string => members(createComponents().schema(body, 'input'))

function endpoints(): string {
  const rows = Object.values(OPERATOR_ENDPOINTS).map((row: OperatorRow) => [
    code(`${row.method} /operator${row.path.replace(/:([a-z_]+)/g, '{$1}')}`),
    row.summary,
    parameters(row.query),
    row.upload ? 'a package' : row.body ? describe(row.body) : '',
    `${row.status}, ${answerOf(row.output)}${row.followed ? '; as events with `accept: text/event-stream`' : ''}`,
    row.errors.join(', '),
  ])
  return table(['endpoint', 'what it does', 'parameters', 'body', 'answer', 'own failures'], rows)
}

/** Returns the name of an answer, or the names of its members. */
function answerOf(output: AnySchema): string {
  const entries = schemaEntries(output)
  const name = nameOf(output)
  if (name !== 'strict_object') return name
  const { items } = entries
  return items ? nameOf(items) : Object.keys(entries).map(code).join(', ')
}

function causes(): string {
  const rows = Object.entries(CAUSES).map(([kind, { what, id }]) => [code(kind), what, id])
  return table(['kind', 'what calls', 'named by'], rows)
}

function wants(): string {
  const rows = Object.entries(WANT_KINDS).map(([kind, meaning]) => [code(kind), meaning])
  return table(['kind', 'what it is'], rows)
}

/** Options with the same meaning in every command. */
const SHARED = {
  '--json': 'print the response as JSON, even if it is a refusal',
  '--url': 'the address of the host, instead of HOST and PORT',
  '--dry-run': 'change nothing, and show what would change',
  '--reason': 'reason, which is shown in the history',
  '--expect': 'refuse if there is a newer generation',
  '--wait-ms': 'how long to wait for the other hosts',
} as const

function commands(): string {
  const rows = verbsOf(createProgram()).map(({ name, command }) => [
    code([`keyway ${name}`, ...argumentsOf(command)].join(' ')),
    command.description(),
    options(command, false).join('; '),
    options(command, true).join(' '),
  ])
  return table(['command', 'what it does', 'options of its own', 'and'], rows)
}

const options = (command: Command, shared: boolean): string[] =>
  command.options
    .filter(({ long }) => Object.hasOwn(SHARED, long ?? '') === shared)
    .map(({ long, description }) => code(long ?? '') + (shared ? '' : ` ${description}`))

const argumentsOf = ({ registeredArguments }: Command): string[] =>
  registeredArguments.map((one) => {
    const name = `${one.name()}${one.variadic ? '...' : ''}`
    return one.required ? `<${name}>` : `[${name}]`
  })
