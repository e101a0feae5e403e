/** The generated reference, runtime/contract/README.md, from the tables of the contract. */
import * as v from 'valibot'
import { AUTHENTICATION, CREDENTIAL_KINDS } from '../runtime/contract/authentication.ts'
import { CACHES, type CacheBounds } from '../runtime/contract/caches.ts'
import { CALLER_LIMITS, type CallerLimit } from '../runtime/contract/caller-limits.ts'
import { CAPABILITIES, type CapabilityName } from '../runtime/contract/capabilities.ts'
import { CONVENTIONS } from '../runtime/contract/conventions.ts'
import { CODES, ERROR_CODES } from '../runtime/contract/error-codes.ts'
import { ERRORS } from '../runtime/contract/errors.ts'
import { INPUTS, type InputBounds } from '../runtime/contract/inputs.ts'
import { INTERFACE_VERSION, Limits } from '../runtime/contract/manifest.ts'
import { METRICS, type MetricRow, OVER } from '../runtime/contract/metrics.ts'
import { REFUSED_NAMES, REFUSED_PREFIXES } from '../runtime/contract/refused-headers.ts'
import { UPSTREAM_STATUS } from '../runtime/contract/upstream-status.ts'
import { CASE_FIELDS } from '../runtime/http/documents/case-fields.ts'
import { createComponents } from '../runtime/http/documents/json-schema.ts'
import { MANIFEST_FIELDS } from '../runtime/http/documents/manifest-fields.ts'
import {
  casePath,
  casesJsonSchema,
  manifestJsonSchema,
} from '../runtime/http/documents/manifest-schema.ts'
import { ORDERED_NAMES, TAGS } from '../runtime/http/documents/operations.ts'
import { coreSections } from './core-reference.ts'
import { contextMembers, type Exported, exportsOf, signingMembers } from './for-authors.ts'
import { code, table } from './markdown.ts'
import { operatorSections } from './operator-reference.ts'
import { type SchemaField, schemaFields } from './schema-fields.ts'
import { members, shape } from './schema-shape.ts'
import { sdkSection } from './sdk-reference.ts'
import { webhookSections } from './webhook-reference.ts'

/** The page as Markdown. */
export function referencePage(): string {
  const components = createComponents()
  const sections = [
    ['For authors', forAuthors()],
    ['SDK', sdkSection()],
    [
      'Conventions',
      table(
        ['about', 'rule'],
        CONVENTIONS.map(([about, rule]) => [about, rule]),
      ),
    ],
    ['Codes for authors', codesForAuthors()],
    ['Capabilities', capabilities(components)],
    ['Records', records(components)],
    ['Credentials', credentials()],
    ['Errors', errors()],
    ['Manifest', manifest()],
    ['Limits', limits()],
    ['What one caller may do', callerLimits()],
    ['What a host remembers', caches()],
    ['Input limits', inputs()],
    ['Metrics', metrics()],
    ['Cases', cases()],
    ...coreSections(),
    ...webhookSections(),
    ...operatorSections((body) => members(createComponents().schema(body, 'input'))),
  ]
  return [
    '<!-- Written by scripts/docs.ts from the tables in this folder; do not edit. -->',
    '',
    '# Contract',
    '',
    `What callers, connectors and the runtime agree on: version ${INTERFACE_VERSION} of the author’s interface; the core interface, the operator’s and the commands are [further down](#core-endpoints).`,
    'This folder is its only definition; validation, types, OpenAPI and this page are read from it.',
    ...sections.flatMap(([title, body]) => ['', `## ${title}`, '', body]),
    '',
  ].join('\n')
}

type Components = ReturnType<typeof createComponents>

function capabilities(components: Components): string {
  const row = (name: CapabilityName) => {
    const { level, summary, input, output } = CAPABILITIES[name]
    const request = members(components.schema(input, 'input'))
    const response = shape(components.schema(output, 'output'))
    return [code(name), level, summary, request, response]
  }
  const groups = Object.entries(TAGS).map(([group, { name }]) => {
    const own = ORDERED_NAMES.filter((one) => CAPABILITIES[one].group === group)
    if (own.length === 0) return []
    const head = ['capability', 'level', 'what it does', '`request`', '`response`']
    return [`### ${name}`, '', table(head, own.map(row)), '']
  })
  const notes =
    'A `?` marks what may be left out or null. Every connector also answers `info` and `app_info`. Only `create_account` and `update_account` may be widened by a connector.'
  return [notes, '', ...groups.flat()].join('\n').trimEnd()
}

function records(components: Components): string {
  const all = Object.entries(components.all())
  return all
    .map(([name, schema]) => {
      const values = schema['enum'] as string[] | undefined
      const description = schema['description']
      const head = description === undefined ? `**${name}**` : `**${name}**: ${description}`
      return `- ${head}. ${values ? values.map(code).join(', ') : members(schema)}`
    })
    .join('\n')
}

function credentials(): string {
  const rows = CREDENTIAL_KINDS.flatMap((kind) =>
    Object.entries(AUTHENTICATION[kind].entries).map(([field, schema]) => {
      const { title, nature } = v.getMetadata(schema as never) as {
        title?: string
        nature?: string
      }
      return [code(kind), code(field), nature ?? '', title ?? '']
    }),
  )
  const note =
    '`secret` fields must never be shown or logged; `identity` fields are clear, and stay the same when a credential is rotated. Of a service account’s `key` every member is secret but those that only name things.'
  return [note, '', table(['kind', 'field', 'nature', 'title'], rows)].join('\n')
}

function errors(): string {
  type Row = { wire: string; raisedBy: string | null; blame: string; status?: number }
  const rows = Object.entries(ERRORS).map(([name, row]) => {
    const { wire, raisedBy, blame, status = 200 } = row as Row
    const by = raisedBy === null ? '' : code(raisedBy)
    const retry = row.retryable ? 'yes' : ''
    return [code(name), code(wire), by, blame, String(status), retry, row.meaning]
  })
  const head = ['in logs', '`error_code`', '`raised_by`', 'blame', 'HTTP', 'retryable', 'meaning']
  return [
    'Everything that the runtime says goes wrong. The first column is its own, finer name, for logs and metrics alone: it is never thrown, and callers see `error_code`.',
    '',
    table(head, rows),
    '',
    `The ${ERROR_CODES.length} values of \`error_code\`, a closed list: ${ERROR_CODES.map(code).join(', ')}.`,
  ].join('\n')
}

function forAuthors(): string {
  const row = ({ name, isType, meaning }: Exported) => [code(name), isType ? 'type' : '', meaning]
  const listed = (file: string) =>
    table(
      ['export', '', 'what it is'],
      exportsOf(file)
        .sort((a, b) => a.name.localeCompare(b.name))
        .map(row),
    )
  const members = contextMembers().map(({ type, meaning }) => [code(type), meaning])
  return [
    'What a connector imports as `keyway/sdk`; signatures and examples are [further down](#sdk):',
    '',
    listed('sdk/sdk.ts'),
    '',
    'What `ctx`, the second argument of every handler, has:',
    '',
    table(['member', 'what it is'], members),
    '',
    'What `ctx.sign` has. Each gives a text to send to a declared host; the host signs when it leaves:',
    '',
    table(
      ['member', 'what it is'],
      signingMembers().map(({ type, meaning }) => [code(type), meaning]),
    ),
    '',
    `\`ctx.fetch\` sends every request header but ${refusedHeaders()}; \`permission_denied\` says so.`,
    '',
    'What a test imports as `keyway/testing`; it is not there in the sandbox:',
    '',
    listed('testing/testing.ts'),
  ].join('\n')
}

/** Names of headers that connectors may not set, in words. */
const refusedHeaders = (): string =>
  [...[...REFUSED_NAMES].sort(), ...REFUSED_PREFIXES.map((prefix) => `${prefix}*`)]
    .map(code)
    .join(', ')

function codesForAuthors(): string {
  const rows = Object.entries(CODES).map(([name, when]) => [code(name), when])
  const statuses = Object.entries(UPSTREAM_STATUS).map(([status, name]) => [status, code(name)])
  return [
    `The ${rows.length} codes of \`ConnectorError\`, a closed list: no others ever leave.`,
    '',
    table(['`error_code`', 'when to throw it'], rows),
    '',
    "A status that means something else here is told by `onError` of `client`: `const error = await ConnectorError.from(reply)`, and then `new ConnectorError('permission_denied', error.message, error)` keeps the status, the system’s own code and who raised it.",
    '',
    '`ConnectorError.from(reply)` makes the code of the upstream’s status; of all others it is `api_error`:',
    '',
    table(['status', '`error_code`'], statuses),
  ].join('\n')
}

function manifest(): string {
  const note =
    'The fields of connector.json; `*` is any name; required within its object. What stands in several places is written once: `credentials.oauth` has the members of `oauth`, `credentials.fields` those of `authentication_schema.fields`, `capabilities.*.egress` those of `egress`, a field of `request_fields` and `response_fields` those of a setting. The JSON Schema is served at `/schemas/connector.json`.'
  const fields = schemaFields(manifestJsonSchema())
  return [note, '', fieldTable(MANIFEST_FIELDS, fields)].join('\n')
}

function cases(): string {
  const note =
    'connector.cases.json is `{ "defaults": ..., "exchanges": ..., "cases": [...] }`, or a list of cases alone; `keyway check` runs each in the real sandbox, without network, and wants one for every capability. The JSON Schema is served at `/schemas/connector.cases.json`. The first rows are the fields of a case.'
  const fields = schemaFields(casesJsonSchema()).map((one) => ({
    ...one,
    path: casePath(one.path),
  }))
  return [note, '', fieldTable(CASE_FIELDS, fields)].join('\n')
}

/** What is said of each field, beside what the schema says. */
function fieldTable(words: Record<string, string>, fields: readonly SchemaField[]): string {
  const rows = Object.entries(words).map(([path, meaning]) => {
    const field = fields.find((one) => one.path === path)
    if (!field) throw new Error(`${path} is no field of the schema`)
    const { type, default: value, isRequired } = field
    return [code(path), code(type), isRequired ? 'required' : value && code(value), meaning]
  })
  return table(['field', 'type', 'default', 'meaning'], rows)
}

function callerLimits(): string {
  const rows = Object.values(CALLER_LIMITS).map((row: CallerLimit) => [
    row.counts,
    row.by,
    typeof row.most === 'number' ? String(row.most) : code(row.most),
    row.perMs === undefined ? 'at once' : `in ${row.perMs / 1000} s`,
    row.over,
    row.answered,
  ])
  const note =
    'What is counted over a `host` each host counts for itself: several hosts of one database let through as many times more.'
  return [
    note,
    '',
    table(['counted', 'for each', 'at most', 'when', 'over', 'one more is answered'], rows),
  ].join('\n')
}

function caches(): string {
  const rows = Object.values(CACHES).map((row: CacheBounds) => [
    row.holds,
    String(row.maxEntries),
    `${row.maxBytes / 1024 / 1024} MiB`,
    row.goodMs === undefined ? '' : `${row.goodMs / 1000} s`,
    row.goes,
  ])
  return table(['what', 'entries', 'bytes', 'for', 'goes when it is full'], rows)
}

function inputs(): string {
  const rows = Object.values(INPUTS).map((row: InputBounds) => [
    row.what,
    row.chosenBy,
    sizeWords(row.maxBytes),
    row.maxMarks === null ? '' : String(row.maxMarks / 2),
    row.where,
    String(row.worstMs),
    row.over,
  ])
  const note =
    'External inputs that a host parses or scans as a whole, with their limits; other inputs are streamed. The column `ms` is the longest time, in milliseconds, for which the worst such input blocks the main thread of an idle core.'
  return [
    note,
    '',
    table(['what', 'chosen by', 'at most', 'values', 'worked on', 'ms', 'more'], rows),
  ].join('\n')
}

const sizeWords = (bytes: number): string =>
  bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`

function metrics(): string {
  const rows = Object.entries(METRICS).map(
    ([name, { type, labels, meaning, most }]: [string, MetricRow]) => [
      code(name),
      type,
      labels.map(code).join(', '),
      meaning,
      String(most),
    ],
  )
  const note =
    'What `GET /metrics` answers, besides `process_*` and `nodejs_*` of prom-client. What is read from the database is the same on all hosts of it: take the `max` of them. It is read again every ten seconds at most. [Alert rules](../../scripts/deploy/ALERTS.md) are made of these.'
  return [
    note,
    '',
    OVER,
    '',
    table(['metric', 'type', 'labels', 'meaning', 'most sets of labels'], rows),
  ].join('\n')
}

function limits(): string {
  const rows = Object.entries(v.getDefaults(Limits)).map(([name, value]) => [
    code(name),
    String(value),
    MANIFEST_FIELDS[`limits.${name as keyof Limits}`],
  ])
  const note = 'What holds where a manifest says nothing; the operator’s ceilings win over both.'
  return [note, '', table(['limit', 'default', 'meaning'], rows)].join('\n')
}
