/** Licences. Each product has several SKUs, which Google does not list. */
import {
  ConnectorError,
  eachPage,
  type Input,
  ifThere,
  inParallel,
  type Listing,
  nested,
  type Output,
  paged,
  path,
} from 'keyway/sdk'
import { type Ctx, customer, directory, licensing, listing } from './service.ts'
import { readUser, users } from './users.ts'

/** Licence assignment. `userId` is an e-mail address. */
export type Assignment = { userId: string; productId: string; skuId: string; skuName?: string }

export type License = { product: string; sku: string }

/** Known SKUs by product. Source: Google's page "Products and SKUs" of the Licensing API. */
const SKUS: Record<string, Record<string, string>> = {
  'Google-Apps': {
    '1010020027': 'Google Workspace Business Starter',
    '1010020028': 'Google Workspace Business Standard',
    '1010020025': 'Google Workspace Business Plus',
    '1010060003': 'Google Workspace Enterprise Essentials',
    '1010020026': 'Google Workspace Enterprise Standard',
    '1010020020': 'Google Workspace Enterprise Plus',
    '1010060001': 'Google Workspace Essentials',
    '1010020030': 'Google Workspace Frontline Starter',
    '1010020031': 'Google Workspace Frontline Standard',
    'Google-Apps-Unlimited': 'G Suite Business',
    'Google-Apps-For-Business': 'G Suite Basic',
  },
  '101001': { '1010010001': 'Cloud Identity' },
  '101005': { '1010050001': 'Cloud Identity Premium' },
  '101033': {
    '1010330003': 'Google Voice Starter',
    '1010330004': 'Google Voice Standard',
    '1010330002': 'Google Voice Premier',
  },
  'Google-Vault': {
    'Google-Vault': 'Google Vault',
    'Google-Vault-Former-Employee': 'Google Vault - Former Employee',
  },
}

/** Maximum page size of licence assignments. */
const MAX_LICENSES = 1000

/** Maximum number of users to read one by one. Above it, reading all users is faster. */
const FEW = 10

export const idOf = ({ product, sku }: License): string => `${product}/${sku}`

/**
 * Decodes the id of a licence.
 *
 * @throws `bad_request` if the id is not a product and an SKU
 */
export function licenseOf(id: string): License {
  const [product, sku, ...more] = id.split('/')
  if (product && sku && more.length === 0) return { product, sku }
  throw new ConnectorError('bad_request', `No such licence: ${id} is not PRODUCT/SKU`)
}

export const products = (ctx: Ctx): string[] =>
  ctx.settings.license_products.split(' ').filter((one) => one !== '')

/** Returns the customer's actual id. The Licensing API does not accept `my_customer`. */
const readCustomerId = async (ctx: Ctx): Promise<string> =>
  (await directory(ctx).get<{ id: string }>(path`/customers/${customer(ctx)}`)).id

/** Lists the licence assignments of the given products. */
export const assignments = (ctx: Ctx, of = products(ctx)): Listing<Assignment> => {
  let id: Promise<string> | null = null
  return nested(
    () => of,
    (product) => async (at) => {
      id ??= readCustomerId(ctx)
      const list = listing<Assignment>(licensing(ctx), {
        path: path`/product/${product}/users`,
        items: 'items',
        most: MAX_LICENSES,
        query: { customerId: await id },
      })
      return list(at)
    },
  )
}

/** Returns the SKUs of a product: the known ones, and those that are assigned to a user. */
export async function readSkus(
  ctx: Ctx,
  product: string,
): Promise<(License & { label: string })[]> {
  const labels = new Map(Object.entries(SKUS[product] ?? {}))
  for await (const page of eachPage(assignments(ctx, [product])))
    for (const { skuId, skuName } of page)
      if (!labels.has(skuId)) labels.set(skuId, skuName ?? skuId)
  return [...labels].map(([sku, label]) => ({ product, sku, label }))
}

/** Lists licence holders by user id. The API returns e-mail addresses. */
export const holders =
  (ctx: Ctx): Listing<{ user: string; license: License }> =>
  async (at) => {
    const page = await assignments(ctx)(at)
    const [found, cursor] = '__paged' in page ? [page.response, page.cursor] : [page, null]
    const ids = await userIds(ctx, [...new Set(found.map((one) => one.userId.toLowerCase()))])
    return paged(
      found.flatMap(({ userId, productId: product, skuId: sku }) => {
        const user = ids.get(userId.toLowerCase())
        // A deleted user keeps its licence for some time.
        return user === undefined ? [] : [{ user, license: { product, sku } }]
      }),
      cursor,
    )
  }

/** Returns user ids by e-mail address in lower case. */
async function userIds(ctx: Ctx, emails: readonly string[]): Promise<Map<string, string>> {
  if (emails.length === 0) return new Map()
  const ids = new Map<string, string>()
  if (emails.length <= FEW) {
    await inParallel(emails, async (email) => {
      const user = await ifThere(readUser(ctx, email))
      if (user !== null) ids.set(email, user.id)
    })
    return ids
  }
  for await (const page of eachPage(users(ctx)))
    for (const { id, primaryEmail } of page) ids.set(primaryEmail.toLowerCase(), id)
  return ids
}

/**
 * Returns the licences of one user. Each product's list is read until the user is found, since a user has one
 * SKU per product.
 */
export async function licensesOf(
  ctx: Ctx,
  email: string,
  of: readonly string[] = products(ctx),
): Promise<License[]> {
  const found: License[] = []
  for (const product of of) {
    const held = await licenseIn(ctx, email, product)
    if (held !== null) found.push(held)
  }
  return found
}

async function licenseIn(ctx: Ctx, email: string, product: string): Promise<License | null> {
  for await (const page of eachPage(assignments(ctx, [product]))) {
    const held = page.find(({ userId }) => userId.toLowerCase() === email.toLowerCase())
    if (held !== undefined) return { product, sku: held.skuId }
  }
  return null
}

/**
 * Moves an account to the licence in `downgrade_to`, within its product.
 *
 * @throws `integration_missing_parameter` if the setting is missing; `not_found` if the account is unknown
 */
export async function downgradeLicense(
  { account_id }: Input<'downgrade_license'>,
  ctx: Ctx,
): Promise<Output<'downgrade_license'>> {
  const { downgrade_to } = ctx.settings
  if (downgrade_to === undefined)
    throw new ConnectorError('integration_missing_parameter', 'The setting downgrade_to is missing')
  const target = licenseOf(downgrade_to)
  const { primaryEmail: email } = await readUser(ctx, account_id)
  const [held] = await licensesOf(ctx, email, [target.product])
  if (held === undefined)
    return { success: false, reason: `The account has no licence of ${target.product}` }
  if (held.sku !== target.sku) {
    const body = { productId: target.product, skuId: target.sku, userId: email }
    const at = path`/product/${held.product}/sku/${held.sku}/user/${email}`
    ctx.raw(await licensing(ctx).patch(at, body))
  }
  return { success: true }
}
