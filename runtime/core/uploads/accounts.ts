/** Uploaded accounts of a custom app, merged into the existing ones. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { recordAccounts } from '../history/spans.ts'
import type { KeptUpload, UploadOutcome } from './kept-upload.ts'
import { managedBySender, SENDER_GONE } from './sender.ts'
import { stageUpload } from './upload-thread.ts'

/**
 * Adds and changes accounts. Accounts missing from the upload stay. An account is identified by its id in the
 * app, or if none was sent, by its e-mail address. It is linked to the user with its e-mail address. Times of
 * last use never move back, nor beyond now. Uploading the same file again changes nothing.
 */
export async function applyAccounts(tx: Db, upload: KeptUpload): Promise<UploadOutcome> {
  const { appId, domainId } = upload
  const { rows: apps } = await tx.execute(sql`
    select 1 from apps where id = ${appId} and connector_id is null for no key update`)
  if (appId === null || apps.length === 0) return { problem: 'the app no longer accepts uploads' }
  const managed = await managedBySender(tx, upload)
  if (managed === null) return { problem: SENDER_GONE }
  const { rows: own } = await tx.execute(sql`select 1 from apps where id = ${appId} and ${managed}`)
  if (own.length === 0) return { problem: 'its sender no longer manages the app' }
  const total = await stage(tx, upload)
  const { rows: twice } = await tx.execute<{ n: number }>(sql`
    select min(n) as n from upload_rows group by coalesce(account_id::text, identifier)
    having count(*) > 1 limit 1`)
  const [double] = twice
  if (double) return { problem: `accounts.${double.n} appears twice, by its id and by its e-mail` }
  const changed = await tx.execute(sql`
    update accounts as a set
      email = coalesce(r.email, a.email),
      user_id = case when r.email is null then a.user_id else r.user_id end,
      status = coalesce(r.status, a.status),
      last_login = greatest(a.last_login, r.last_login),
      last_activity = greatest(a.last_activity, r.last_activity),
      sources = case when 'MANUAL' = any(a.sources) then a.sources else a.sources || '{MANUAL}' end,
      uploaded = r.uploaded, updated_at = now()
    from upload_rows as r
    where a.id = r.account_id and (a.email, a.user_id, a.status, a.last_login, a.last_activity, a.uploaded)
      is distinct from (coalesce(r.email, a.email),
        case when r.email is null then a.user_id else r.user_id end, coalesce(r.status, a.status),
        greatest(a.last_login, r.last_login), greatest(a.last_activity, r.last_activity), r.uploaded)`)
  const added = await tx.execute(sql`
    insert into accounts (domain_id, app_id, unique_identifier, email, user_id, status, discovered_at,
      last_login, last_activity, sources, uploaded)
    select ${domainId}, ${appId}, identifier, email, user_id, coalesce(status, 'ACTIVE'), now(),
      last_login, last_activity, '{MANUAL}', uploaded
    from upload_rows where account_id is null order by n`)
  await recordAccounts(tx, appId)
  const [more, other] = [added.rowCount ?? 0, changed.rowCount ?? 0]
  return { added: more, changed: other, unchanged: total - more - other }
}

/**
 * Fills the temporary table upload_rows with the uploaded rows and the account and user of each. Returns
 * their number.
 */
async function stage(tx: Db, { appId, domainId, text }: KeptUpload): Promise<number> {
  const { rows, count } = await stageUpload('accounts', text)
  await tx.execute(sql`
    create temporary table upload_rows (
      n int not null, given text, identifier text not null, email text, status text,
      last_login timestamptz, last_activity timestamptz, uploaded jsonb not null,
      account_id uuid, user_id uuid
    ) on commit drop`)
  await tx.execute(sql`
    insert into upload_rows
    select n, given, coalesce(given, email), email, status, ${untilNow(sql`last_login`)},
      ${untilNow(sql`last_activity`)}, uploaded
    from json_to_recordset(${rows}::json) as row(n int, given text, email text, status text,
      last_login timestamptz, last_activity timestamptz, uploaded jsonb)`)
  await tx.execute(sql`analyze upload_rows (n, given, email)`)
  await tx.execute(sql`
    update upload_rows as r set user_id = u.id from users as u
    where u.domain_id = ${domainId} and lower(u.email) = lower(r.email)`)
  await tx.execute(sql`
    update upload_rows as r set account_id = a.id from accounts as a
    where a.app_id = ${appId} and a.unique_identifier = r.identifier`)
  await tx.execute(sql`
    update upload_rows as r set account_id = a.id from (
      select distinct on (lower(email)) id, lower(email) as key from accounts
      where app_id = ${appId} and email is not null order by lower(email), unique_identifier
    ) as a
    where r.given is null and r.account_id is null and a.key = lower(r.email)`)
  return count
}

/** Returns a moment, or now if it is in the future. `least` would turn null into now. */
const untilNow = (moment: SQL): SQL =>
  sql`case when ${moment} > now() then now() else ${moment} end`
