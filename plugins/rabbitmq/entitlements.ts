/** Entitlements: tags in the cluster, and three permissions in every virtual host. */
import {
  ConnectorError,
  chain,
  keyPage,
  type Listing,
  type Output,
  type Paged,
  paged,
} from 'keyway/sdk'
import { USER, type User } from './accounts.ts'
import { type Ctx, readList } from './service.ts'

export const TAG = 'TAG'
export const PERMISSION = 'PERMISSION'
export const VHOST = 'VHOST'

/** Resource id of tags. */
export const CLUSTER = ''

type Entitlement = Output<'list_entitlements'>[number]
type Vhost = { name: string; description?: string }

/** Tag that the connector itself needs. */
export const ADMINISTRATOR = 'administrator'

/** Tag that stays effective on open connections after it is removed. */
export const IMPERSONATOR = 'impersonator'

/** Predefined tags of RabbitMQ, with descriptions. Any other text may be a tag as well. */
const TAGS: Record<string, string> = {
  [ADMINISTRATOR]: 'Everything in the management API, users and permissions included',
  [IMPERSONATOR]: 'Publish messages in the name of any user',
  management: 'Log in to the management API and see the own virtual hosts',
  monitoring: 'See all virtual hosts, connections, channels and nodes',
  policymaker: 'Set policies and parameters in the own virtual hosts',
}

/**
 * Permissions in a virtual host, with the operations that they allow on objects whose names match the
 * pattern.
 */
export const OPERATIONS = {
  configure: 'Create, change and delete queues and exchanges',
  write: 'Publish messages, and bind queues',
  read: 'Consume, get and purge messages, and bind exchanges',
} as const
export type Operation = keyof typeof OPERATIONS

const OPERATION_NAMES: readonly Operation[] = ['configure', 'write', 'read']

/** Entitlement, decoded from a request. */
export type Grant =
  | { type: typeof TAG; tag: string }
  | { type: typeof PERMISSION; vhost: string; operation: Operation }

/**
 * Decodes the type, id and resource of a requested entitlement.
 *
 * @throws `bad_request` if no such entitlement can exist
 */
export function grantOf(type: string, id: string, resource: string): Grant {
  if (type === TAG) {
    if (resource !== CLUSTER) throw wrong(`a tag belongs to the whole cluster, not to ${resource}`)
    if (id === '') throw wrong('a tag has a name')
    return { type, tag: id }
  }
  if (type === PERMISSION) {
    const operation = OPERATION_NAMES.find((name) => name === id)
    if (!operation) throw wrong(`a permission is one of ${OPERATION_NAMES.join(', ')}, not ${id}`)
    if (resource === '') throw wrong('a permission belongs to a virtual host; name one')
    return { type, vhost: resource, operation }
  }
  throw wrong(`the types are ${TAG} and ${PERMISSION}, not ${type}`)
}

/** Tags that the server stores unchanged. It trims spaces and corrupts non-ASCII characters. */
const TAG_NAME = /^(?! )[\x20-\x7e]{1,255}(?<! )$/

/**
 * Returns the tag if the server stores it unchanged. ` administrator` would become `administrator`.
 *
 * @throws `bad_request` if the server would change it
 */
export function givenTag(tag: string): string {
  if (TAG_NAME.test(tag)) return tag
  throw new ConnectorError(
    'bad_request',
    `RabbitMQ would not keep ${JSON.stringify(tag)} as it is: a tag has 1 to 255 characters of ASCII, with no blank at its ends`,
  )
}

const wrong = (why: string) => new ConnectorError('bad_request', `No such entitlement: ${why}`)

/** Permission record, with one pattern per operation. */
export type Permission = { user: string; vhost: string } & Record<Operation, string>

/**
 * Returns the operations that a record allows on any object at all. `^$` and an empty pattern match nothing.
 */
export const operationsOf = (permission: Permission): Operation[] =>
  OPERATION_NAMES.filter((name) => !['', '^$'].includes(permission[name]))

/** Returns one page of virtual hosts. */
export async function listResources(ctx: Ctx): Promise<Paged<Output<'list_resources'>>> {
  const page = keyPage(ctx, await readVhosts(ctx), ({ name }) => name)
  ctx.raw(page.response)
  const resources = page.response.map(({ name, description }) => ({
    integration_specific_id: name,
    label: name,
    resource_type: VHOST,
    description: description || null,
  }))
  return paged(resources, page.cursor)
}

/** Returns one page of tags, followed by the permissions of every virtual host. */
export const listEntitlements = (ctx: Ctx): Promise<Paged<Entitlement[]>> =>
  chain<Entitlement>(ctx, {
    tags: async (at) => keyPage(at, await readTags(ctx), (one) => one.integration_specific_id),
    permissions: (at) => permissionsPage(ctx, at),
  })

async function permissionsPage(
  ctx: Ctx,
  at: Parameters<Listing<Entitlement>>[0],
): Promise<Paged<Entitlement[]>> {
  const vhosts = await readVhosts(ctx)
  const all = vhosts.flatMap(({ name }) =>
    OPERATION_NAMES.map((operation) => ({
      entitlement_type: PERMISSION,
      integration_specific_id: operation,
      integration_specific_resource_id: name,
      label: `${operation} in ${name}`,
      description: OPERATIONS[operation],
    })),
  )
  return keyPage(at, all, (one) =>
    JSON.stringify([one.integration_specific_resource_id, one.integration_specific_id]),
  )
}

/** Returns the predefined tags and those that users have. */
async function readTags(ctx: Ctx): Promise<Entitlement[]> {
  const users = await readList<User>(ctx, '/users', USER)
  const names = new Set([...Object.keys(TAGS), ...users.flatMap(({ tags }) => tags)])
  return [...names].map((name) => ({
    entitlement_type: TAG,
    integration_specific_id: name,
    integration_specific_resource_id: CLUSTER,
    label: name,
    description: Object.hasOwn(TAGS, name) ? (TAGS[name] ?? null) : null,
  }))
}

const readVhosts = (ctx: Ctx): Promise<Vhost[]> =>
  readList<Vhost>(ctx, '/vhosts', ['name', 'description'])
