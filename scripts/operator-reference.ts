/** The operator's endpoints and the command line in the generated reference, from their tables. */
import type { Command } from 'commander'
import { createProgram, verbsOf } from '../runtime/cli/program.ts'
import type { AnySchema } from '../runtime/contract/capabilities.ts'
import { CAUSES } from '../runtime/contract/causes.ts'
import { OPERATOR_ENDPOINTS, type OperatorRow } from '../runtime/contract/endpoints/operator.ts'
import { WANT_KINDS } from '../runtime/contract/generation.ts'
import { entriesOf } from '../runtime/contract/schema-shape.ts'
import { nameOf, parameters } from './core-reference.ts'
import { code, table } from './markdown.ts'

/** Says a body in one line. */
type DescribeBody = (schema: AnySchema) => string

/** Title and body of each section. */
export const operatorSections = (describe: DescribeBody): [string, string][] => [
  ['Operator endpoints', endpoints(describe)],
  ['Causes', causes()],
  ['Wants', wants()],
  ['Commands', commands()],
]

function endpoints(describe: DescribeBody): string {
  const rows = Object.values(OPERATOR_ENDPOINTS).map((row: OperatorRow) => [
    code(`${row.method} /operator${row.path.replace(/:([a-z_]+)/g, '{$1}')}`),
    row.summary,
    parameters(row.query),
    row.upload ? 'a package' : row.body ? describe(row.body) : '',
    `${row.status}, ${answerOf(row.output)}`,
    row.errors.join(', '),
  ])
  return [
    'What is installed, who may what, and what happened. Every call carries `Authorization: Bearer lsk_...`, the operator’s token or an admin’s. Every change may say why (`reason`), may be a dry run, may be refused where somebody else was faster (`expected_generation`), and waits for the other hosts (`wait_ms`). Besides its own failures, each may answer 401, 403, 405, 421 and 503.',
    '',
    table(['endpoint', 'what it does', 'parameters', 'body', 'answer', 'own failures'], rows),
  ].join('\n')
}

/** The name of an answer, or the names of its members. */
function answerOf(output: AnySchema): string {
  const entries = entriesOf(output)
  const name = nameOf(output)
  if (name !== 'strict_object') return name
  const { items } = entries
  return items ? nameOf(items) : Object.keys(entries).map(code).join(', ')
}

function causes(): string {
  const rows = Object.entries(CAUSES).map(([kind, { what, id }]) => [code(kind), what, id])
  return [
    'Why a capability was called: in `keyway logs`, in the log, and as the label `cause` of `keyway_calls_total`. `keyway logs --cause sync` shows those of one kind, `--cause sync:17` those of one run.',
    '',
    table(['kind', 'what calls', 'named by'], rows),
  ].join('\n')
}

function wants(): string {
  const rows = Object.entries(WANT_KINDS).map(([kind, meaning]) => [code(kind), meaning])
  return [
    'What a version of a connector may want of the operator. A want is granted and revoked by its kind, or by its kind and subject: `egress https://api.acme.example`.',
    '',
    table(['kind', 'what it is'], rows),
  ].join('\n')
}

/** Options that mean the same wherever they stand. */
const SHARED = {
  '--json': 'print the answer, also a refusal, as JSON',
  '--url': 'the address of the host, instead of HOST and PORT',
  '--dry-run': 'change nothing, and say what would be',
  '--reason': 'why; it stands in the history',
  '--expect': 'refuse where there is a newer generation',
  '--wait-ms': 'how long to wait for the other hosts',
} as const

function commands(): string {
  const rows = verbsOf(createProgram()).map(({ name, command }) => [
    code([`keyway ${name}`, ...argumentsOf(command)].join(' ')),
    command.description(),
    options(command, false).join('; '),
    options(command, true).join(' '),
  ])
  const shared = Object.entries(SHARED).map(([flag, meaning]) => [code(flag), meaning])
  return [
    '`keyway COMMAND --help` says the same, with examples. Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 waits for a grant. These options mean the same wherever they stand:',
    '',
    table(['option', 'meaning'], shared),
    '',
    table(['command', 'what it does', 'options of its own', 'and'], rows),
  ].join('\n')
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
