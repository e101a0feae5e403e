/** Creating, changing and deleting inline webhooks, for operators. */

import { randomUUID } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import type { OperatorBody } from '../../contract/endpoints/operator.ts'
import type { WebhookChanged } from '../../contract/endpoints/webhooks.ts'
import { conflict, invalidAt } from '../../contract/errors/problem.ts'
import type { ActivityEvent } from '../../contract/models/activity-event.ts'
import { type Db, written } from '../../database/database.ts'
import { inlineWebhooks, type WebhookRow } from '../../database/schema/app_store.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import { chainWaiting } from '../kernel/audit/unchained-entries.ts'
import { rowOfId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { newSecret, openSecrets, sealSecrets, type WebhookSecrets } from './secrets.ts'
import { beginFeed, toOperatorsWebhook } from './view.ts'
import { usesOfWebhook } from './webhook-references.ts'

type Change = OperatorBody<'update_webhook'>
type Parts = Pick<CoreContext, 'vault' | 'deliver' | 'now'>

/** Time during which the previous secret also signs, in milliseconds. */
const OVERLAP_MS = 24 * 60 * 60 * 1000

/**
 * Creates a webhook.
 *
 * @throws CoreError `invalid` for an address or headers that may not be sent
 */
export async function createWebhook(
  db: Db,
  actor: Actor,
  wish: OperatorBody<'create_webhook'>,
  { vault, deliver }: Parts,
): Promise<WebhookChanged> {
  const { hook_type: hookType, name, description = null, url, dry_run } = wish
  const headers = lowered(wish.headers)
  const headerNames = Object.keys(headers).sort()
  judge(deliver, url, headerNames)
  const difference = [`${hookType} ${JSON.stringify(name)} is sent to ${originOf(url)}`]
  if (dry_run) return { changed: false, difference, webhook: null, secret: null }
  const owner = { id: randomUUID(), domainId: actor.domainId }
  const secret = newSecret()
  const sealed = sealSecrets(vault, owner, { secret, previous: null, headers })
  if (hookType === 'SIEM') await chainWaiting(db, actor.domainId)
  const webhook = await db.transaction(async (tx) => {
    const [row] = await tx
      .insert(inlineWebhooks)
      .values({ ...owner, hookType, name, description, url, headerNames, sealed })
      .returning()
    const made = written(row)
    if (hookType === 'SIEM') await beginFeed(tx, made)
    await tell(tx, actor, 'INLINE_WEBHOOK_CREATED', made, { hook_type: hookType, difference })
    return toOperatorsWebhook(tx, made)
  })
  return { changed: true, difference, webhook, secret }
}

/**
 * Changes a webhook.
 *
 * @throws CoreError `not_found`, `invalid`
 */
export async function updateWebhook(
  db: Db,
  actor: Actor,
  id: string,
  { headers: given, ...change }: Change,
  { vault, deliver }: Parts,
): Promise<WebhookChanged> {
  return db.transaction(async (tx) => {
    const row = await lockWebhook(tx, actor, id)
    const secrets = openSecrets(vault, row)
    const url = change.url ?? row.url
    const changes = lowered(given ?? {})
    const headers = withHeaders(secrets?.headers ?? {}, changes)
    const headerNames = Object.keys(headers).sort()
    // An unchanged address is checked only when a message is sent: after its grant was removed, it must still
    // be possible to disable the webhook.
    if (url !== null && (change.url !== undefined || given !== undefined))
      judge(deliver, url, headerNames)
    keepAtHome(row, url, secrets, changes)
    const difference = differenceOf(row, { ...change, headers: changes }, url, headerNames)
    if (difference.length === 0 || change.dry_run) return unchanged(tx, row, difference)
    // A webhook that was only a name, or whose secrets are lost, is signed from now on.
    const secret = secrets ? null : newSecret()
    const kept = secrets ?? { secret: secret ?? '', previous: null }
    const [changed] = await tx
      .update(inlineWebhooks)
      .set({
        name: change.name ?? row.name,
        description: change.description === undefined ? row.description : change.description,
        enabled: change.enabled ?? row.enabled,
        url,
        headerNames,
        sealed: sealSecrets(vault, row, { ...kept, headers }),
      })
      .where(eq(inlineWebhooks.id, row.id))
      .returning()
    const now = written(changed)
    if (now.hookType === 'SIEM') await beginFeed(tx, now)
    await tell(tx, actor, 'INLINE_WEBHOOK_UPDATED', now, { difference })
    return { changed: true, difference, webhook: await toOperatorsWebhook(tx, now), secret }
  })
}

/**
 * Creates a new secret. The previous one also signs for a day, for receivers to switch.
 *
 * @throws CoreError `not_found`
 */
export async function renewSecret(
  db: Db,
  actor: Actor,
  id: string,
  dryRun: boolean,
  { vault, now }: Parts,
): Promise<WebhookChanged> {
  return db.transaction(async (tx) => {
    const row = await lockWebhook(tx, actor, id)
    const webhook = await toOperatorsWebhook(tx, row)
    const until = new Date((await now(tx)).getTime() + OVERLAP_MS).toISOString()
    const difference = [`signed with a new secret; until ${until} also with the previous one`]
    if (dryRun) return { changed: false, difference, webhook, secret: null }
    const secrets = openSecrets(vault, row)
    const secret = newSecret()
    const previous = secrets && { secret: secrets.secret, until }
    const sealed = sealSecrets(vault, row, { secret, previous, headers: secrets?.headers ?? {} })
    await tx.update(inlineWebhooks).set({ sealed }).where(eq(inlineWebhooks.id, row.id))
    await tell(tx, actor, 'INLINE_WEBHOOK_SECRET_RENEWED', row, { previous_until: until })
    return { changed: true, difference, webhook, secret }
  })
}

/**
 * Deletes a webhook.
 *
 * @throws CoreError `not_found`, `conflict` while something refers to it, which the message names
 */
export async function deleteWebhook(
  db: Db,
  actor: Actor,
  id: string,
  dryRun: boolean,
): Promise<WebhookChanged> {
  return db.transaction(async (tx) => {
    const row = await lockWebhook(tx, actor, id)
    const names = await usesOfWebhook(tx, row)
    if (names.length > 0) throw conflict(`It is in use: ${names.join('; ')}. Remove it there first`)
    const difference = [`${row.hookType} ${JSON.stringify(row.name)} is gone`]
    if (dryRun) return unchanged(tx, row, difference)
    await tx.delete(inlineWebhooks).where(eq(inlineWebhooks.id, row.id))
    await tell(tx, actor, 'INLINE_WEBHOOK_DELETED', row, {})
    return { changed: true, difference, webhook: null, secret: null }
  })
}

async function unchanged(tx: Db, row: WebhookRow, difference: string[]): Promise<WebhookChanged> {
  return { changed: false, difference, webhook: await toOperatorsWebhook(tx, row), secret: null }
}

/**
 * Returns a webhook of the domain.
 *
 * @throws CoreError `not_found`
 */
export const findWebhook = (
  db: Db,
  domain: Pick<Actor, 'domainId'>,
  id: string,
): Promise<WebhookRow> => rowOfId(db, inlineWebhooks, 'Inline webhook', domain, id)

/** Returns a webhook and locks it against other changes and new references until the transaction ends. */
const lockWebhook = (tx: Db, actor: Actor, id: string): Promise<WebhookRow> =>
  rowOfId(tx, inlineWebhooks, 'Inline webhook', actor, id, { lock: 'update' })

function judge(deliver: CoreContext['deliver'], url: string, headerNames: readonly string[]): void {
  const why = deliver.refuse(url, headerNames)
  if (why === null) return
  throw invalidAt(['body', 'url'], why)
}

/** Returns headers with lower-case names. If a name occurs in two spellings, the last one is used. */
const lowered = <V>(headers: Record<string, V>): Record<string, V> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Applies a change to headers. Null removes a header. */
const withHeaders = (headers: Record<string, string>, change: Record<string, string | null>) =>
  Object.fromEntries(
    Object.entries({ ...headers, ...change }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    ),
  )

/**
 * Refuses to send existing header values to another host. A caller who may change a webhook may not read the
 * values of its headers.
 *
 * @throws CoreError `invalid`
 */
function keepAtHome(
  row: WebhookRow,
  url: string | null,
  secrets: WebhookSecrets | null,
  change: Record<string, string | null>,
): void {
  if (row.url === null || url === null || originOf(url) === originOf(row.url)) return
  const kept = Object.keys(secrets?.headers ?? {}).filter((name) => change[name] === undefined)
  if (kept.length === 0) return
  const msg = `send these again, or null to drop them: ${kept.join(', ')}; they were set for ${originOf(row.url)}`
  throw invalidAt(['body', 'headers'], msg)
}

/** Returns the origin of a URL. The path and query are left out, because they may be secret. */
const originOf = (url: string): string => URL.parse(url)?.origin ?? 'no address'

function differenceOf(
  row: WebhookRow,
  { name, description, enabled, headers }: Change,
  url: string | null,
  headerNames: readonly string[],
): string[] {
  const gone = row.headerNames.filter((one) => !headerNames.includes(one))
  const given = Object.keys(headers ?? {}).filter((one) => headerNames.includes(one))
  return [
    ...(name === undefined || name === row.name ? [] : [`its name is ${JSON.stringify(name)}`]),
    ...(description === undefined || description === row.description ? [] : ['its description']),
    ...(url === row.url || url === null ? [] : [`it is sent to ${originOf(url)}`]),
    ...gone.map((one) => `the header ${one} is no longer sent`),
    ...given.map((one) => `the header ${one} has the new value`),
    ...(enabled === undefined || enabled === row.enabled
      ? []
      : [`it is ${enabled ? 'on' : 'off'}`]),
  ]
}

/** Records a change in the activity log, without whole addresses and without values. */
async function tell(
  tx: Db,
  actor: Actor,
  event: ActivityEvent,
  { id, name }: WebhookRow,
  metadata: Record<string, unknown>,
): Promise<void> {
  const target = { target_type: 'InlineWebhook', name, id }
  await recordActivity(tx, actor, event, [target], metadata)
}

/** Returns all webhooks of the domain, sorted by name. */
export async function operatorsWebhooks(db: Db, { domainId }: Pick<Actor, 'domainId'>) {
  const rows = await db
    .select()
    .from(inlineWebhooks)
    .where(eq(inlineWebhooks.domainId, domainId))
    .orderBy(sql`lower(${inlineWebhooks.name})`, inlineWebhooks.id)
  return { items: await Promise.all(rows.map((row) => toOperatorsWebhook(db, row))) }
}
