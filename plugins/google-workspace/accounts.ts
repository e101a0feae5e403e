/** Reads, suspends and restores users. */
import { type Input, type Output, type Paged, paged, path } from 'keyway/sdk'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, customer, directory } from './service.ts'
import { CUSTOM_NAMES, readUser, statusOf, toAccount, type User, users } from './users.ts'

type CustomAttribute = Output<'list_custom_attributes_schema'>[number]
type Schema = {
  schemaName: string
  fields?: { fieldName: string; displayName?: string; fieldType?: string; multiValued?: boolean }[]
}

/** Returns the attributes that all users have and those that the customer has defined. */
export async function listCustomAttributes(ctx: Ctx): Promise<CustomAttribute[]> {
  const at = path`/customer/${customer(ctx)}/schemas`
  const { schemas = [] } = await directory(ctx).get<{ schemas?: Schema[] }>(at)
  const own = schemas.flatMap(({ schemaName, fields = [] }) =>
    fields
      .filter((field) => !field.multiValued)
      .map((field) => attribute(`${schemaName}.${field.fieldName}`, field.displayName)),
  )
  return [...CUSTOM_NAMES.map((name) => attribute(name)), ...own]
}

const attribute = (name: string, description?: string): CustomAttribute => ({
  customized_type: 'ACCOUNT',
  name,
  attribute_type: name === 'manager' ? 'USER' : 'STRING',
  description: description ?? null,
})

/** Returns one page of users, ordered by e-mail address. */
export async function listAccounts(
  { custom_attributes: attributes }: Input<'list_accounts'>,
  ctx: Ctx,
): Promise<Paged<Output<'list_accounts'>>> {
  const page = await users(ctx, attributes)(ctx.page)
  ctx.raw(page.response)
  return paged(
    page.response.map((user) => toAccount(user, attributes)),
    page.cursor,
  )
}

/** Returns one user by id. */
export async function getAccount(
  { account_id, custom_attributes: attributes }: Input<'get_account'>,
  ctx: Ctx,
): Promise<Output<'get_account'>> {
  const user = await readUser(ctx, account_id, attributes)
  ctx.raw(user)
  return toAccount(user, attributes)
}

/**
 * Suspends or restores a user, and returns the resulting status. An archived user stays archived.
 *
 * @throws `unsupported_operation` if the user to suspend is the administrator that the connector acts for
 */
export async function setSuspended(
  ctx: Ctx,
  id: string,
  suspended: boolean,
): Promise<'ACTIVE' | 'SUSPENDED'> {
  const address = path`/users/${id}`
  if (suspended) await refuseOwnAccount(ctx, id, 'is suspended')
  return statusOf(await directory(ctx).patch<User>(address, { suspended }))
}
