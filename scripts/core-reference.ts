/** Parts of the documentation pages about the core interface, generated from its tables. */
import * as v from 'valibot'
import type { Endpoint, FailureStatus } from '../runtime/contract/endpoints/endpoint.ts'
import type { Params } from '../runtime/contract/endpoints/params.ts'
import { SCIM_ENDPOINTS, SCIM_PATH, type ScimRow } from '../runtime/contract/endpoints/scim.ts'
import { ENDPOINTS } from '../runtime/contract/endpoints/table.ts'
import { ACCESS_LENGTHS } from '../runtime/contract/models/access-length.ts'
import { ACTIVITY_EVENTS } from '../runtime/contract/models/activity-event.ts'
import { FINDING_EVENTS, FINDINGS } from '../runtime/contract/models/finding.ts'
import { HINTS } from '../runtime/contract/models/review-item.ts'
import { SCOPE_GROUPS } from '../runtime/contract/models/review-scope.ts'
import { PERMISSIONS, ROLES } from '../runtime/contract/models/roles.ts'
import { USER_FIELDS } from '../runtime/contract/models/scim.ts'
import { ON_REQUEST } from '../runtime/contract/models/separation.ts'
import { TASK_TYPES } from '../runtime/contract/models/task-type.ts'
import { entriesOf } from '../runtime/contract/schema/keys.ts'
import type { AnySchema } from '../runtime/contract/schema/shape.ts'
import { QUEUES } from '../runtime/core/kernel/jobs/queues.ts'
import { RETRY_SCHEDULES, type RetrySchedule } from '../runtime/core/kernel/jobs/retry-schedules.ts'
import { ERASED, PERSONAL_KEPT as STAYS } from '../runtime/core/personal-data/rules.ts'
import { REQUEST_STATES, type RequestStanding } from '../runtime/core/requests/machine/states.ts'
import { KEPT, KEPT_OTHERWISE } from '../runtime/core/retention/rules.ts'
import {
  ITEM_STATE_TABLE,
  REVIEW_APP_STATES,
  REVIEW_STATES,
} from '../runtime/core/reviews/machine/states.ts'
import { TASK_ACTIONS } from '../runtime/core/tasks/task-actions.ts'
import { CORE_TAGS, FAILURES, RARE_FAILURES } from '../runtime/http/documents/core.ts'
import { code, type Parts, table } from './markdown.ts'

/** CORE_PARTS: marker in a page -> text written after it. */
export const CORE_PARTS: Parts = {
  'core-statuses': () => table(['status', 'meaning'], statusRows()),
  'core-endpoints': endpoints,
  'scim-endpoints': () =>
    table(
      ['endpoint', 'what it does', 'parameters', 'body', 'answer', 'own failures'],
      Object.values<ScimRow>(SCIM_ENDPOINTS).map((row) => [
        code(`${row.method} ${SCIM_PATH}${row.path.replace(/:([a-z_]+)/g, '{$1}')}`),
        row.summary,
        parameters(row.query),
        row.body === null ? '' : nameOf(row.body),
        `${row.status}${row.output === null ? '' : `, ${nameOf(row.output)}`}`,
        row.errors.join(', '),
      ]),
    ),
  'scim-attributes': () =>
    table(
      ['attribute', 'schema', 'what it is'],
      Object.values(USER_FIELDS).map(({ path, of, what }) => [
        code(path),
        of === 'user' ? 'User' : 'EnterpriseUser',
        what,
      ]),
    ),
  roles,
  'request-states': requestStates,
  'review-states': () => moves(REVIEW_STATES),
  'review-app-states': () => moves(REVIEW_APP_STATES),
  'review-item-states': () => moves(ITEM_STATE_TABLE),
  'personal-data-erased': () =>
    Object.keys(ERASED)
      .map((what) => `- ${what}`)
      .join('\n'),
  'personal-data-kept': () => table(['what stays', 'why'], Object.entries(STAYS)),
  'review-hints': () =>
    table(
      ['hint', 'red', 'meaning'],
      Object.entries(HINTS).map(([name, { red, meaning }]) => [
        code(name),
        red ? 'red' : '',
        meaning,
      ]),
    ),
  'review-scopes': () =>
    table(
      ['`group`', 'keeps'],
      Object.entries(SCOPE_GROUPS).map(([name, { keeps }]) => [code(name), keeps]),
    ),
  findings: () =>
    table(
      ['kind', 'severity', 'meaning', 'what to do'],
      Object.entries(FINDINGS).map(([name, { severity, meaning, nextStep }]) => [
        ...[code(name), code(severity), meaning, nextStep],
      ]),
    ),
  'finding-events': () =>
    table(
      ['event', 'when'],
      Object.entries(FINDING_EVENTS).map(([name, when]) => [code(name), when]),
    ),
  events: () =>
    table(
      ['`event_type`', 'what happened'],
      entriesOf(ACTIVITY_EVENTS).map(([type, meaning]) => [code(type), meaning]),
    ),
  'task-types': () =>
    table(
      ['`task_type`', '`task_category`', 'what it asks, or what happened'],
      entriesOf(TASK_TYPES).map(([type, { category, meaning }]) => [
        ...[code(type), code(category), meaning],
      ]),
    ),
  'on-request': () =>
    table(
      ['`on_request`', 'what happens'],
      Object.entries(ON_REQUEST).map(([name, meaning]) => [code(name), meaning]),
    ),
  'task-actions': taskActions,
  'access-lengths': accessLengths,
  jobs,
  'retry-schedules': retrySchedules,
  retention,
  'kept-otherwise': () =>
    table(
      ['table', 'kept'],
      Object.entries(KEPT_OTHERWISE).map(([name, how]) => [code(name), how]),
    ),
}

function endpoints(): string {
  const rows = Object.values(ENDPOINTS) as Endpoint[]
  const head = ['endpoint', 'what it does', 'who', 'parameters', 'body', 'answer', 'own failures']
  const groups = CORE_TAGS.flatMap(({ name, description }) => {
    const own = rows.filter(({ tag }) => tag === name)
    return [`### ${name}`, '', `${description}.`, '', table(head, own.map(endpointRow)), '']
  })
  return groups.join('\n').trimEnd()
}

/** Lists the kinds of background work. */
function jobs(): string {
  return table(
    [
      'queue',
      'what',
      'at once on a host',
      'tries',
      'pauses',
      'at most',
      'lease',
      'after the last try',
    ],
    Object.entries(QUEUES).map(([name, row]) => [
      ...[code(name), row.what, `${row.concurrency}`, `${row.retries + 1}`],
      `${inWords(row.pauses.firstMs)} to ${inWords(row.pauses.longestMs)}`,
      ...[inWords(row.deadlineMs), row.lease, row.end],
    ]),
  )
}

/** Lists what is retried, and how. */
function retrySchedules(): string {
  return table(
    ['what failed', 'pauses', 'people are told', 'given up', 'then'],
    Object.values<RetrySchedule>(RETRY_SCHEDULES).map((row) => [
      row.what,
      row.firstMs === row.longestMs
        ? inWords(row.firstMs)
        : `${inWords(row.firstMs)} to ${inWords(row.longestMs)}`,
      after(row.tellAfter, row.tellAfterMs),
      after(row.endAfter, row.endAfterMs),
      row.afterwards,
    ]),
  )
}

const after = (failures?: number, ms?: number): string =>
  [
    ...(failures === undefined ? [] : [`after ${failures} in a row`]),
    ...(ms === undefined ? [] : [`after ${inWords(ms)}`]),
  ].join(', or ')

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const

function inWords(ms: number): string {
  const [unitMs, unit] = UNITS.find(([one]) => ms >= one) ?? [1, 'ms']
  return `${ms / unitMs} ${unit}`
}

/** Lists the retention periods. */
function retention(): string {
  return table(
    ['table', 'what', 'days', 'may be set from', 'what stays however old it is'],
    Object.entries(KEPT).map(([name, { what, keptDays, leastDays, stays }]) => [
      ...[code(name), what, keptDays === null ? 'for ever' : `${keptDays}`],
      ...[leastDays === null ? '' : `${leastDays}`, stays],
    ]),
  )
}

/** Lists each state with its meaning, its effect on the access, and the next states. */
function requestStates(): string {
  return table(
    ['state', 'meaning', 'the access', 'may become'],
    Object.entries(REQUEST_STATES).map(([name, { meaning, standing, next }]) => [
      code(name),
      meaning,
      STANDINGS[standing],
      next.map(code).join(', '),
    ]),
  )
}

/** Lists each state with its meaning and the next states. */
const moves = (states: Record<string, { meaning: string; next: readonly string[] }>): string =>
  table(
    ['state', 'meaning', 'may become'],
    Object.entries(states).map(([name, { meaning, next }]) => [
      code(name),
      meaning,
      next.map(code).join(', '),
    ]),
  )

const STANDINGS: Record<RequestStanding, string> = {
  asked: 'is only asked for',
  wanted: 'is there, or being given',
  unwanted: 'is being revoked',
  over: '',
}

const statusRows = (): string[][] => [
  ...Object.entries(FAILURES).map(([status, [meaning]]) => [status, meaning]),
  ...Object.entries(RARE_FAILURES).map(([status, meaning]) => [
    status,
    `${meaning} (where it is named)`,
  ]),
]

const WHO = { caller: 'any token', anybody: 'anybody' } as const

function endpointRow(row: Endpoint): string[] {
  const { method, path, summary, who, query, body, errors } = row
  const own: FailureStatus[] = [...(body === null ? [] : [413 as const]), ...errors]
  return [
    code(`${method} ${path.replace(/:([a-z_]+)/g, '{$1}')}`),
    summary,
    who === 'caller' || who === 'anybody' ? WHO[who] : code(who),
    parameters(query),
    body === null ? '' : nameOf(body),
    `${row.status}${answerOf(row)}`,
    own.join(', '),
  ]
}

/** Returns parameters as `size?: 1..100 = 50`, one after another. */
export function parameters(query: Params): string {
  const rows = Object.entries(query).map(([name, { required, many, jsonSchema }]) => {
    const { default: absent, minimum, maximum } = jsonSchema
    const range = minimum === undefined ? '' : ` ${minimum}..${maximum ?? ''}`
    const value = absent === undefined ? '' : ` = ${absent}`
    return code(
      `${name}${required ? '' : '?'}: ${typeOf(jsonSchema)}${range}${value}${many ? ', repeated' : ''}`,
    )
  })
  return rows.join(', ')
}

function typeOf({ type, items, enum: values, format }: Record<string, unknown>): string {
  if (Array.isArray(values)) return values.filter((one) => one !== null).join(' / ')
  if (items) return typeOf(items as Record<string, unknown>)
  if (format !== undefined) return String(format)
  return [type]
    .flat()
    .filter((one) => one !== 'null')
    .join(' / ')
}

function answerOf({ output, answer }: Endpoint): string {
  if (output === null) return ''
  if (answer === 'text') return ', plain text'
  if (answer === 'file') return `, file of ${nameOf(output)}`
  const paged = answer === 'page' || answer === 'limit-offset'
  return paged ? `, page of ${nameOf(output)}` : `, ${nameOf(output)}`
}

/** Returns a schema's title. A list is named after its items. */
export function nameOf(schema: AnySchema): string {
  const { item, type } = schema as AnySchema & { item?: AnySchema }
  if (item) return `list of ${nameOf(item)}`
  const title = v.getMetadata(schema as never)['title'] as string | undefined
  return title ?? (type === 'picklist' ? 'string' : type)
}

function roles(): string {
  const rows = Object.values(ROLES).map(({ label, permissions, meaning }) => {
    const held: readonly string[] = permissions
    const all = PERMISSIONS.every((one) => held.includes(one))
    return [code(label), all ? 'all' : held.map(code).join(', '), meaning]
  })
  return [
    `The permissions: ${PERMISSIONS.map(code).join(', ')}. Everybody has the role \`User\`; names are compared without case.`,
    '',
    table(['role', 'permissions', 'reaches'], rows),
  ].join('\n')
}

function taskActions(): string {
  const rows = Object.entries(TASK_ACTIONS).map(([name, { categories, from, to, meaning }]) => [
    code(name),
    meaning,
    ...[categories, from, to].map((list: readonly string[]) => list.map(code).join(', ')),
  ])
  return table(['action', 'meaning', '`task_category`', 'from `status`', '`transition_to`'], rows)
}

function accessLengths(): string {
  const rows = Object.entries(ACCESS_LENGTHS).map(([value, seconds]) => [
    code(value),
    seconds === null ? 'no end' : String(seconds),
  ])
  return table(['value', 'seconds'], rows)
}
