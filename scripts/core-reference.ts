/** The core interface in the generated reference, from its tables. */
import * as v from 'valibot'
import type { AnySchema } from '../runtime/contract/capabilities.ts'
import type { Endpoint } from '../runtime/contract/endpoints/endpoint.ts'
import type { Params } from '../runtime/contract/endpoints/params.ts'
import type { CoreStatus } from '../runtime/contract/endpoints/problem.ts'
import { ENDPOINTS } from '../runtime/contract/endpoints/table.ts'
import { ACCESS_LENGTHS } from '../runtime/contract/models/access-length.ts'
import { REQUEST_STATES, type Standing } from '../runtime/contract/request-states.ts'
import { PERMISSIONS, ROLES } from '../runtime/contract/roles.ts'
import { SYNC_RULES } from '../runtime/contract/sync-rules.ts'
import { TASK_ACTIONS } from '../runtime/contract/task-actions.ts'
import { KEPT_OTHERWISE, RETENTION_NAMES, retentionOf } from '../runtime/core/retention/rules.ts'
import { CORE_TAGS, FAILURES, RARE_FAILURES } from '../runtime/http/documents/core.ts'
import { code, table } from './markdown.ts'

/** Title and body of each section. */
export const coreSections = (): [string, string][] => [
  ['Core endpoints', endpoints()],
  ['Roles', roles()],
  ['Access request states', requestStates()],
  ['Task actions', taskActions()],
  ['Access lengths', accessLengths()],
  ['Syncs', syncs()],
  ['Retention', retention()],
]

function endpoints(): string {
  const rows = Object.values(ENDPOINTS) as Endpoint[]
  const head = ['endpoint', 'what it does', 'who', 'parameters', 'body', 'answer', 'own failures']
  const groups = CORE_TAGS.flatMap(({ name, description }) => {
    const own = rows.filter(({ tag }) => tag === name)
    return [`### ${name}`, '', `${description}.`, '', table(head, own.map(endpointRow)), '']
  })
  return [
    'Every call carries `Authorization: Bearer lsk_...`, but those for anybody. *Any token* reaches what is its user’s own, and what their roles reach besides; a permission is one of those below. A `?` marks what may be left out; of an answer that is a page, its items are named. Members of bodies and answers are in `/openapi.json`.',
    '',
    'Besides the failures of its own, every endpoint may answer:',
    '',
    table(['status', 'meaning'], statusRows()),
    '',
    ...groups,
  ]
    .join('\n')
    .trimEnd()
}

/** What a sync makes of what a connector lists. */
const syncs = (): string =>
  table(
    ['about', 'rule'],
    SYNC_RULES.map(([about, rule]) => [about, rule]),
  )

/** What is kept for how long. */
const retention = (): string =>
  [
    'Once an hour, one host removes what is over, in small batches. `KEYWAY_RETENTION` changes the number of days, such as `tasks=365 sync_runs=30`. Nothing of the activity log is ever removed.',
    '',
    table(
      ['table', 'what', 'days', 'may be set from', 'what stays however old it is'],
      RETENTION_NAMES.map((name) => {
        const { what, keptDays, leastDays, stays } = retentionOf(name)
        return [code(name), what, `${keptDays}`, leastDays === null ? '' : `${leastDays}`, stays]
      }),
    ),
    '',
    'What is bounded otherwise, or kept for ever:',
    '',
    table(
      ['table', 'kept'],
      Object.entries(KEPT_OTHERWISE).map(([name, how]) => [code(name), how]),
    ),
  ].join('\n')

/** What each state means, says of the access, and may lead to. */
const requestStates = (): string =>
  table(
    ['state', 'meaning', 'the access', 'may become'],
    Object.entries(REQUEST_STATES).map(([name, { meaning, standing, next }]) => [
      code(name),
      meaning,
      STANDINGS[standing],
      next.map(code).join(', '),
    ]),
  )

const STANDINGS: Record<Standing, string> = {
  asked: 'is only asked for',
  wanted: 'is there, or being given',
  unwanted: 'is being taken back',
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
  const own: CoreStatus[] = [...(body === null ? [] : [413 as const]), ...errors]
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

/** `size?: 1..100 = 50`, one after the other. */
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
  const paged = answer === 'page' || answer === 'limit-offset'
  return paged ? `, page of ${nameOf(output)}` : `, ${nameOf(output)}`
}

/** A schema's title; a list by that of its items. */
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
  return [
    'What `GET /tasks/{task_id}/actions` lists and `perform-action` takes, for an assignee of the task or who has `tasks.write`.',
    '',
    table(['action', 'meaning', '`task_category`', 'from `status`', '`transition_to`'], rows),
  ].join('\n')
}

function accessLengths(): string {
  const rows = Object.entries(ACCESS_LENGTHS).map(([value, seconds]) => [
    code(value),
    seconds === null ? 'no end' : String(seconds),
  ])
  return ['Values of `time_based_access`.', '', table(['value', 'seconds'], rows)].join('\n')
}
