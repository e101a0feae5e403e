/**
 * ERASED: statements that erase data from the rows about a person. PERSONAL_KEPT: data that stays, with the
 * reason.
 */
import { type SQL, sql } from 'drizzle-orm'
import { theirAccounts } from './person.ts'

/**
 * Replacement for the id of an erased account. It contains the row's own id, because account ids are unique
 * within a system.
 */
const erasedId = (column: string): SQL => sql.raw(`'erased-' || ${column}`)

/**
 * Description for people -> the statement that erases the data. The number of changed rows is reported. In
 * execution order: the ids of the person's accounts are needed by all statements before the last ones.
 */
export const ERASED: Readonly<Record<string, (userId: string) => SQL>> = {
  'sessions and sign-in links': (id) => sql`
      with links as (delete from login_links where user_id = ${id} returning 1),
      gone as (delete from sessions where user_id = ${id} returning 1)
      select from links union all select from gone`,
  'names and descriptions of API tokens, which are revoked': (id) => sql`
      update api_tokens set name = 'erased', description = '',
      revoked_at = coalesce(revoked_at, now()) where user_id = ${id}`,
  roles: (id) => sql`delete from user_roles where user_id = ${id}`,
  'group memberships; their history stays, with ids only': (id) => sql`
      with ended as (update member_spans set until = date_trunc('milliseconds', now())
        where user_id = ${id} and until is null returning 1)
      delete from group_members where user_id = ${id}`,
  'mails to the person, sent or waiting, and the person’s settings for pages and mail': (id) => sql`
      with chosen as (delete from personal_settings where user_id = ${id} returning 1),
      gone as (delete from mails where user_id = ${id} returning 1)
      select from chosen union all select from gone`,
  'user names from an identity provider that provisions people by SCIM': (id) => sql`
      insert into scim_users (user_id, domain_id, user_name, deleted_at)
      select id, domain_id, 'erased-' || id, now() from users where id = ${id}
      on conflict (user_id) do update set user_name = excluded.user_name, external_id = null,
        deleted_at = coalesce(scim_users.deleted_at, excluded.deleted_at)`,
  'changes reported by the identity source': (id) =>
    sql`delete from identity_events where user_id = ${id}`,
  'accounts in offboarding steps': (id) => sql`
      update offboarding_steps set account = ${erasedId('id')}, problem = null
      where offboarding_id in (select id from user_offboardings where user_id = ${id})`,
  'records of accounts that were created for requests': (id) =>
    sql`delete from holders where user_id = ${id}`,
  'files attached to access review lines about the person': (id) => sql`
      with about as (update access_review_uploads set name = 'erased'
        where item_ids && array(select i.id from access_review_items i where i.user_id = ${id}) returning id)
      delete from access_review_files where upload_id in (select id from about)`,
  'ids, addresses and names of accounts in access reviews, and remarks about them': (id) => sql`
      with gone as (delete from access_review_texts where account_id in (
        select account_id from access_review_items where user_id = ${id}
        union select id from accounts where ${theirAccounts(id)}) returning 1)
      update access_review_items set account = ${erasedId('account_id')},
      account_email = null, user_email = null, user_name = null, reason = null, problem = null
      where user_id = ${id} or account_id in (select id from accounts where ${theirAccounts(id)})`,
  'reasons for accepting findings about the person': (id) => sql`update findings set reason = null
      where user_id = ${id} or account_id in (select id from accounts where ${theirAccounts(id)})`,
  'submitters and descriptions of expenses': (id) => sql`
      update expenses set submitter = null, description = '', user_id = null
      where user_id = ${id}`,
  'ids, addresses and names of accounts in the history': (id) => sql`update account_spans
      set unique_identifier = ${erasedId('account_id')}, email = null
      where user_id = ${id} or account_id in (select id from accounts where ${theirAccounts(id)})`,
  'ids, addresses, names and attributes of accounts': (id) => sql`
      update accounts set unique_identifier = ${erasedId('id')}, email = null,
      given_name = null, family_name = null, attributes = '{}', uploaded = null
      where ${theirAccounts(id)}`,
  'texts in access requests by and about the person': (id) => sql`
      update access_requests set notes = '{}', problem = null
      where target_user_id = ${id} or requester_id = ${id}`,
  'reasons for naming delegates of the person': (id) => sql`
      update delegations set reason = '', ended_at = coalesce(ended_at, now())
      where user_id = ${id} or delegate_id = ${id}`,
  'comments of the person': (id) =>
    sql`update task_comments set body = 'erased' where created_by_id = ${id}`,
  'address, name and attributes of the person': (id) => sql`
      update users set email = 'erased-' || id || '@erased.invalid',
      given_name = '', family_name = '', custom_attributes = '{}', manager_id = null
      where id = ${id}`,
}

/** Data that stays -> the reason. */
export const PERSONAL_KEPT: Readonly<Record<string, string>> = {
  'a random id in place of the person':
    'other people’s decisions and actions refer to it; it does not identify the person',
  'access requests, decisions, tasks, offboardings and history as ids, states and times':
    'they prove who had access and why; retention removes them (KEYWAY_RETENTION)',
  'entries of the activity log, with commitments or “erased” in place of names and addresses':
    'the hash chain proves that entries were not changed; without the erased text a commitment reveals nothing',
  'sealed settings and credentials of apps and webhooks':
    'erasure does not search them; change them if they name the person',
  'backups, logs of hosts, and data sent to webhooks and other systems':
    'they are not in this database: let them expire, or erase them there',
}
