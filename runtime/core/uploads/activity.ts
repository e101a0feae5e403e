/** Uploaded records of the use of accounts. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { KeptUpload, UploadOutcome } from './kept-upload.ts'
import { managedBySender, SENDER_GONE } from './sender.ts'
import { stageUpload } from './upload-thread.ts'

/**
 * Sets the times of last sign-in and last use of accounts: never back, nor beyond now. The account belongs to
 * the source app or, if the record names an instance, to the one app with that `instance_id` that the sender
 * manages. It is identified by its id in the app, or if none was sent, by its e-mail address. Records of
 * unknown accounts are only counted.
 */
export async function applyActivity(tx: Db, upload: KeptUpload): Promise<UploadOutcome> {
  const managed = await managedBySender(tx, upload)
  if (managed === null) return { problem: SENDER_GONE }
  const count = await stage(tx, upload, managed)
  const changed = await tx.execute(sql`
    update accounts as a set
      last_login = greatest(a.last_login, r.login), last_activity = greatest(a.last_activity, r.activity),
      updated_at = now()
    from (
      select account_id, max(at) filter (where type = 'LOGIN') as login,
        max(at) filter (where type = 'ACTIVITY') as activity
      from upload_records where account_id is not null group by account_id
    ) as r
    where a.id = r.account_id and (a.last_login, a.last_activity) is distinct from
      (greatest(a.last_login, r.login), greatest(a.last_activity, r.activity))`)
  const { rows: counted } = await tx.execute<{ unknown: string }>(
    sql`select count(*) as unknown from upload_records where account_id is null`,
  )
  return {
    records: count,
    changed_accounts: changed.rowCount ?? 0,
    ignored_records: Number(counted[0]?.unknown ?? 0),
  }
}

/**
 * Fills the temporary table upload_records with the uploaded records and the app and account of each. Returns
 * their number.
 */
async function stage(tx: Db, { domainId, text }: KeptUpload, managed: SQL): Promise<number> {
  const { rows, count } = await stageUpload('activity', text)
  await tx.execute(sql`
    create temporary table upload_records (
      external_id text, email text, type text not null, at timestamptz not null,
      source text not null, instance text, app_id uuid, account_id uuid
    ) on commit drop`)
  await tx.execute(sql`
    insert into upload_records
    select external_id, email, type, least(at, now()), source, instance
    from json_to_recordset(${rows}::json) as row(external_id text, email text, type text,
      at timestamptz, source text, instance text)`)
  await tx.execute(sql`
    update upload_records as r set app_id = apps.id from apps
    where r.instance is null and apps.id::text = lower(r.source)
      and apps.domain_id = ${domainId} and ${managed}`)
  // An instance shared by several apps, such as that of every custom app, identifies none.
  await tx.execute(sql`
    update upload_records as r set app_id = one.id from (
      select instance_id, min(id::text)::uuid as id from apps
      where domain_id = ${domainId} and ${managed} group by instance_id having count(*) = 1
    ) as one
    where one.instance_id = r.instance`)
  await tx.execute(sql`analyze upload_records`)
  await tx.execute(sql`
    update upload_records as r set account_id = a.id from accounts as a
    where a.app_id = r.app_id and a.unique_identifier = r.external_id`)
  await tx.execute(sql`
    update upload_records as r set account_id = a.id from (
      select distinct on (app_id, lower(email)) id, app_id, lower(email) as key from accounts
      where app_id in (select app_id from upload_records) and email is not null
      order by app_id, lower(email), unique_identifier
    ) as a
    where r.external_id is null and a.app_id = r.app_id and a.key = lower(r.email)`)
  return count
}
