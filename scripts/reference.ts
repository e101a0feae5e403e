/** Parts of the documentation pages about the contract, generated from its tables. */
import * as v from 'valibot'
import { CACHES, type CacheBounds } from '../runtime/bounded/caches.ts'
import { CAPABILITIES, type CapabilityName } from '../runtime/contract/capabilities/capabilities.ts'
import { AUTHENTICATION, CREDENTIAL_KINDS } from '../runtime/contract/connector/authentication.ts'
import { LDAP_LIMITS, LDAP_RESULTS } from '../runtime/contract/connector/ldap.ts'
import { MYSQL_ERRORS } from '../runtime/contract/connector/mysql-errors.ts'
import { REFUSED_NAMES, REFUSED_PREFIXES } from '../runtime/contract/connector/refused-headers.ts'
import { SQL_LIMITS } from '../runtime/contract/connector/sql.ts'
import { SQL_STATES } from '../runtime/contract/connector/sql-states.ts'
import { UPSTREAM_STATUS } from '../runtime/contract/connector/upstream-status.ts'
import { METRICS, type MetricRow, OVER_BOUND } from '../runtime/contract/endpoints/metrics.ts'
import { CODES, ERROR_CODES } from '../runtime/contract/errors/error-codes.ts'
import { ERRORS } from '../runtime/contract/errors/errors.ts'
import { CALLER_LIMITS, type CallerLimit } from '../runtime/contract/limits/caller-limits.ts'
import { MANIFEST_LIMITS } from '../runtime/contract/limits/ceilings.ts'
import { INPUTS, type InputBounds } from '../runtime/contract/limits/inputs.ts'
import { REQUEST_LIMITS } from '../runtime/contract/limits/requests.ts'
import { OPERATORS } from '../runtime/contract/models/condition.ts'
import { PEOPLE_COLUMNS } from '../runtime/contract/models/people-file.ts'
import { entriesOf } from '../runtime/contract/schema/keys.ts'
import { EGRESS_LIMITS } from '../runtime/egress/limits/limits.ts'
import { CASE_FIELDS } from '../runtime/http/documents/case-fields.ts'
import { MANIFEST_FIELDS } from '../runtime/http/documents/manifest-fields.ts'
import {
  casePath,
  casesJsonSchema,
  manifestJsonSchema,
} from '../runtime/http/documents/manifest-schema.ts'
import { ORDERED_NAMES, TAGS } from '../runtime/http/documents/operations.ts'
import { envelopeStatus } from '../runtime/http/edge/statuses.ts'
import { createComponents } from '../runtime/http/schemas/json-schema.ts'
import { contextMembers, type Exported, exportsOf, signingMembers } from './for-authors.ts'
import { code, type Parts, table } from './markdown.ts'
import { type SchemaField, schemaFields } from './schema-fields.ts'
import { members, shape } from './schema-shape.ts'
import { sdkSection } from './sdk-reference.ts'

/** CONTRACT_PARTS: marker in a page -> text written after it. */
export const CONTRACT_PARTS: Parts = {
  'sdk-exports': () => exported('sdk/sdk.ts'),
  'testing-exports': () => exported('testing/testing.ts'),
  context: () => memberTable(contextMembers()),
  signing: () => memberTable(signingMembers()),
  'refused-headers': () =>
    `\`ctx.fetch\` sends every request header except ${refusedHeaders()}. Those are refused with \`permission_denied\`.`,
  sdk: sdkSection,
  codes: () => table(['`error_code`', 'when to throw it'], rowsOf(CODES)),
  'upstream-statuses': () =>
    table(
      ['status', '`error_code`'],
      Object.entries(UPSTREAM_STATUS).map(([status, name]) => [status, code(name)]),
    ),
  'ldap-results': () =>
    table(
      ['result', 'number', '`error_code`'],
      Object.entries(LDAP_RESULTS).map(([number, { name, wire }]) => [
        code(name),
        number,
        code(wire),
      ]),
    ),
  'sql-states': () =>
    table(
      ['code', 'PostgreSQL calls it', '`error_code`'],
      Object.entries(SQL_STATES)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([state, { name, wire }]) => [
          state.length === 2 ? `${code(state)}...` : code(state),
          name,
          code(wire),
        ]),
    ),
  'mysql-errors': () =>
    table(
      ['number', 'what it is', '`error_code`'],
      Object.entries(MYSQL_ERRORS).map(([number, { name, wire }]) => [
        code(number),
        name,
        code(wire),
      ]),
    ),
  capabilities: () => capabilities(createComponents()),
  records,
  credentials,
  errors,
  manifest: () => fieldTable(MANIFEST_FIELDS, schemaFields(manifestJsonSchema())),
  limits,
  'caller-limits': callerLimits,
  caches,
  inputs,
  'egress-limits': egressLimits,
  'bridge-limits': bridgeLimits,
  metrics,
  cases,
  operators: () =>
    table(
      ['operator', 'the attribute'],
      Object.entries(OPERATORS).map(([name, { meaning }]) => [code(name), meaning]),
    ),
  'people-columns': () => table(['column', 'meaning'], rowsOf(PEOPLE_COLUMNS)),
}

const rowsOf = (named: Readonly<Record<string, string>>): string[][] =>
  Object.entries(named).map(([name, meaning]) => [code(name), meaning])

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
  return groups.flat().join('\n').trimEnd()
}

function records(): string {
  const components = createComponents()
  // Records are the schemas to which a capability refers.
  capabilities(components)
  return Object.entries(components.all())
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
  return table(['kind', 'field', 'nature', 'title'], rows)
}

function errors(): string {
  const rows = entriesOf(ERRORS).map(([name, row]) => {
    const { wire, raisedBy, blame } = row
    const by = raisedBy === null ? '' : code(raisedBy)
    const retry = row.retryable ? 'yes' : ''
    return [code(name), code(wire), by, blame, String(envelopeStatus(name)), retry, row.meaning]
  })
  const head = ['in logs', '`error_code`', '`raised_by`', 'blame', 'HTTP', 'retryable', 'meaning']
  return [
    table(head, rows),
    '',
    `The ${ERROR_CODES.length} values of \`error_code\`, a closed list: ${ERROR_CODES.map(code).join(', ')}.`,
  ].join('\n')
}

const exported = (file: string): string =>
  table(
    ['export', '', 'what it is'],
    exportsOf(file)
      .sort((a, b) => a.name.localeCompare(b.name))
      .map(({ name, isType, meaning }: Exported) => [code(name), isType ? 'type' : '', meaning]),
  )

const memberTable = (all: { type: string; meaning: string }[]): string =>
  table(
    ['member', 'what it is'],
    all.map(({ type, meaning }) => [code(type), meaning]),
  )

/** Returns the names of headers that connectors may not set, as text. */
const refusedHeaders = (): string =>
  [...[...REFUSED_NAMES].sort(), ...REFUSED_PREFIXES.map((prefix) => `${prefix}*`)]
    .map(code)
    .join(', ')

function cases(): string {
  const fields = schemaFields(casesJsonSchema()).map((one) => ({
    ...one,
    path: casePath(one.path),
  }))
  return fieldTable(CASE_FIELDS, fields)
}

/** Returns a table of fields: their description, and the facts from the schema. */
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
  return table(['counted', 'for each', 'at most', 'when', 'over', 'one more is answered'], rows)
}

function caches(): string {
  const rows = Object.values(CACHES).map((row: CacheBounds) => [
    row.holds,
    String(row.maxEntries),
    `${row.maxBytes / 1024 / 1024} MiB`,
    row.goodMs === undefined ? '' : `${row.goodMs / 1000} s`,
    row.goes,
  ])
  return table(['what', 'entries', 'bytes', 'kept for', 'evicted when full'], rows)
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
  return table(['what', 'chosen by', 'at most', 'values', 'worked on', 'ms', 'more'], rows)
}

function egressLimits(): string {
  return table(
    ['what', 'of one', 'at most'],
    [
      ...entriesOf(EGRESS_LIMITS).map(([name, row]) => [
        row.what,
        row.of,
        inUnit(name, row.figure),
      ]),
      ['requests in all, one after the other included', 'call', String(REQUEST_LIMITS.inAll)],
    ],
  )
}

/** What a limit of `ctx.ldap` or `ctx.sql` bounds, by its name. */
const BRIDGE_LIMITS: Readonly<Record<keyof typeof LDAP_LIMITS | keyof typeof SQL_LIMITS, string>> =
  {
    maxPage: 'entries or rows of a page',
    defaultPage: 'entries of a page whose size the connector does not say',
    maxRows: 'rows of a query that is not paged',
    maxReplyBytes: 'one reply, as received',
    maxReplyValues: 'values of one reply',
    maxCursorChars: 'characters of a cursor',
    maxValueChars: 'characters of one value of a request',
    maxDnChars: 'characters of a DN',
    maxFilterDepth: 'levels of a filter',
    maxFilterNodes: 'parts of a filter',
    maxAttributes: 'attributes of a request',
    maxValues: 'values of all attributes of a request',
    maxReferrals: 'referrals that a reply lists',
    maxRanges: 'further requests for the values of one attribute that a server returns in ranges',
    maxTextChars: 'characters of the text of a statement',
    maxParameters: 'parameters of a statement',
    maxNames: 'named places of a statement',
    maxNameChars: 'characters of a name that stands in a place',
    maxListItems: 'items of a list that is a parameter',
    maxSteps: 'statements of one transaction',
  }

function bridgeLimits(): string {
  const figure = (limits: Readonly<Record<string, number>>, name: string): string =>
    limits[name] === undefined ? '' : inUnit(name, limits[name])
  return table(
    ['what', '`ctx.ldap`', '`ctx.sql`'],
    entriesOf(BRIDGE_LIMITS).map(([name, what]) => [
      ...[what, figure(LDAP_LIMITS, name), figure(SQL_LIMITS, name)],
    ]),
  )
}

/** Formats a number by the unit in its name. */
function inUnit(name: string, figure: number): string {
  if (/Bytes/.test(name)) return sizeWords(figure)
  return name.endsWith('Ms') ? `${figure / 1000} s` : String(figure)
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
  return [
    OVER_BOUND,
    '',
    table(['metric', 'type', 'labels', 'meaning', 'most sets of labels'], rows),
  ].join('\n')
}

function limits(): string {
  const rows = entriesOf(MANIFEST_LIMITS).map(([name, { default: wish, meaning }]) => [
    code(name),
    String(wish),
    meaning,
  ])
  return table(['limit', 'default', 'meaning'], rows)
}
