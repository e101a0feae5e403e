/** Entitlements: administration of the server, and two privileges on every database. */
import { ConnectorError, chain, keyPage, type Output, type Paged, paged } from 'keyway/sdk'
import { type Ctx, read, textIn } from './service.ts'

export const ADMINISTRATOR = 'ADMINISTRATOR'
export const PRIVILEGE = 'PRIVILEGE'
const DATABASE = 'DATABASE'

/** Id of the only entitlement on the whole server, and the id of its resource. */
export const ADMIN_ID = 'administrator'
export const SERVER = ''

type Entitlement = Output<'list_entitlements'>[number]

/** Privileges on a database, with descriptions. ALL PRIVILEGES on a database means exactly these two. */
const PRIVILEGES = {
  READ: 'Query the data, and show what there is',
  WRITE: 'Write data, and delete it',
} as const
export type Privilege = keyof typeof PRIVILEGES

export const PRIVILEGE_NAMES: readonly Privilege[] = ['READ', 'WRITE']

/** Entitlement, decoded from a request. */
export type Grant =
  | { type: typeof ADMINISTRATOR }
  | { type: typeof PRIVILEGE; database: string; privilege: Privilege }

/**
 * Decodes the type, id and resource of a requested entitlement.
 *
 * @throws `bad_request` if no such entitlement can exist
 */
export function grantOf(type: string, id: string, resource: string): Grant {
  if (type === ADMINISTRATOR) {
    if (id !== ADMIN_ID || resource !== SERVER) throw wrong(`its id is ${ADMIN_ID}, of no database`)
    return { type }
  }
  if (type !== PRIVILEGE)
    throw wrong(`the types are ${ADMINISTRATOR} and ${PRIVILEGE}, not ${type}`)
  const privilege = PRIVILEGE_NAMES.find((name) => name === id)
  if (!privilege) throw wrong(`a privilege is one of ${PRIVILEGE_NAMES.join(', ')}, not ${id}`)
  if (resource === '') throw wrong('a privilege is held on a database; name one')
  return { type, database: resource, privilege }
}

const wrong = (why: string) => new ConnectorError('bad_request', `No such entitlement: ${why}`)

const readDatabases = async (ctx: Ctx): Promise<string[]> =>
  (await read(ctx, 'SHOW DATABASES')).map((row) => textIn(row, 0))

/** Returns one page of databases. */
export async function listResources(ctx: Ctx): Promise<Paged<Output<'list_resources'>>> {
  const page = keyPage(ctx, await readDatabases(ctx), (name) => name)
  ctx.raw(page.response)
  const resources = page.response.map((name) => ({
    integration_specific_id: name,
    label: name,
    resource_type: DATABASE,
  }))
  return paged(resources, page.cursor)
}

/** Returns one page of entitlements: administration, then the privileges on every database. */
export const listEntitlements = (ctx: Ctx): Promise<Paged<Entitlement[]>> =>
  chain<Entitlement>(ctx, {
    administrator: () => [
      {
        entitlement_type: ADMINISTRATOR,
        integration_specific_id: ADMIN_ID,
        integration_specific_resource_id: SERVER,
        label: 'Administrator',
        description: 'Everything on this server: every database, and all users',
      },
    ],
    privileges: async (at) =>
      keyPage(at, (await readDatabases(ctx)).flatMap(privilegesOn), (one) =>
        JSON.stringify([one.integration_specific_resource_id, one.integration_specific_id]),
      ),
  })

const privilegesOn = (database: string): Entitlement[] =>
  PRIVILEGE_NAMES.map((privilege) => ({
    entitlement_type: PRIVILEGE,
    integration_specific_id: privilege,
    integration_specific_resource_id: database,
    label: `${privilege} on ${database}`,
    description: PRIVILEGES[privilege],
  }))
