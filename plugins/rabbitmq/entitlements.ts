/** What can be granted: tags in the cluster, and three permissions in every virtual host. */
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

/** The id of the resource that tags belong to. */
export const CLUSTER = ''

type Entitlement = Output<'list_entitlements'>[number]
type Vhost = { name: string; description?: string }

/** The tag that the connector itself needs. */
export const ADMINISTRATOR = 'administrator'

/** The tag that an open connection keeps. */
export const IMPERSONATOR = 'impersonator'

/** Tags that RabbitMQ itself knows; any other text may be a tag as well. */
const TAGS: Record<string, string> = {
  [ADMINISTRATOR]: 'Everything in the management API, users and permissions included',
  [IMPERSONATOR]: 'Publish messages in the name of any user',
  management: 'Log in to the management API and see the own virtual hosts',
  monitoring: 'See all virtual hosts, connections, channels and nodes',
  policymaker: 'Set policies and parameters in the own virtual hosts',
}

/** What a permission allows on the things of a virtual host whose names match its pattern. */
export const OPERATIONS = {
  configure: 'Create, change and delete queues and exchanges',
  write: 'Publish messages, and bind queues',
  read: 'Consume, get and purge messages, and bind exchanges',
} as const
export type Operation = keyof typeof OPERATIONS

const OPERATION_NAMES: readonly Operation[] = ['configure', 'write', 'read']

/** One thing that can be granted. */
export type Grant =
  | { type: typeof TAG; tag: string }
  | { type: typeof PERMISSION; vhost: string; operation: Operation }

/**
 * The grant that a request names by type, id and resource.
 *
 * @throws bad_request when there can be no such entitlement.
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

/** Characters of a tag that the server keeps as they are: it drops blanks at the ends, and spoils what is not ASCII. */
const TAG_NAME = /^(?! )[\x20-\x7e]{1,255}(?<! )$/

/**
 * A tag that the server gives as what is asked for, and not as another: ` administrator` would be `administrator`.
 *
 * @throws bad_request
 */
export function givenTag(tag: string): string {
  if (TAG_NAME.test(tag)) return tag
  throw new ConnectorError(
    'bad_request',
    `RabbitMQ would not keep ${JSON.stringify(tag)} as it is: a tag has 1 to 255 characters of ASCII, with no blank at its ends`,
  )
}

const wrong = (why: string) => new ConnectorError('bad_request', `No such entitlement: ${why}`)

/** A permission record: one pattern for each operation. */
export type Permission = { user: string; vhost: string } & Record<Operation, string>

/** The operations that a record allows on anything at all: `^$` and an empty pattern match nothing. */
export const operationsOf = (permission: Permission): Operation[] =>
  OPERATION_NAMES.filter((name) => !['', '^$'].includes(permission[name]))

/** One page of virtual hosts. */
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

/** One page of tags, then of the permissions of every virtual host. */
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

/** RabbitMQ's own tags, and those that users have also. */
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
