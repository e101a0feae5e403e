/** Writes pages of resources, entitlements and associations. */
import { sql } from 'drizzle-orm'
import type { Output } from '../../contract/capabilities/capabilities.ts'
import {
  EACH_BY_KEY,
  isKeepable,
  keptText,
  lastOfEach,
  MAX_ACCOUNT_ID,
  MAX_ID,
  WAS_NEW,
} from './kept.ts'
import type { Listing } from './listing.ts'

/** Joins what an id is made of; no id that is kept holds it at a place where it could be mistaken. */
const BETWEEN = '\u0001'

const isResourceId = (id: string): boolean => id === '' || isKeepable(id, MAX_ID)

export const RESOURCES: Listing<Output<'list_resources'>[number]> = {
  capability: 'list_resources',
  request: () => ({}),
  async write(tx, { run, app }, found) {
    const kept = found.filter((one) => isKeepable(one.integration_specific_id, MAX_ID))
    const rows = lastOfEach(kept, (one) => one.integration_specific_id).map((one) => ({
      external: one.integration_specific_id,
      type: keptText(one.resource_type),
      label: keptText(one.label),
    }))
    const { rows: seen } = await tx.execute<{ again: string }>(sql`
      with row as (
        select * from json_to_recordset(${JSON.stringify(rows)}::json)
          as row(external text, type text, label text)
      ), written as (
      insert into resources (domain_id, app_id, resource_type, external_id, label, seen_run)
      select ${app.domainId}, ${app.id}, row.type, row.external, row.label, ${run.id} from row
      on conflict (app_id, md5(external_id)) do update set
        resource_type = excluded.resource_type, label = excluded.label,
        seen_run = excluded.seen_run, gone_at = null
      )
      select count(*) as again from row cross join lateral (
        select seen_run from resources where resources.app_id = ${app.id}
          and md5(resources.external_id) = md5(row.external) ${EACH_BY_KEY}) old
      where old.seen_run = ${run.id}`)
    return {
      written: rows.length,
      repeated: Number(seen[0]?.again),
      left_out: found.length - kept.length,
    }
  },
}

export const ENTITLEMENTS: Listing<Output<'list_entitlements'>[number]> = {
  capability: 'list_entitlements',
  request: () => ({ custom_attributes: [] }),
  async write(tx, { run, app }, found) {
    const kept = found.filter(
      (one) =>
        isKeepable(one.integration_specific_id, MAX_ID) &&
        isResourceId(one.integration_specific_resource_id),
    )
    const keyOf = (one: (typeof kept)[number]) =>
      one.integration_specific_resource_id + BETWEEN + one.integration_specific_id
    const rows = lastOfEach(kept, keyOf).map((one) => ({
      external: one.integration_specific_id,
      resource: one.integration_specific_resource_id,
      type: keptText(one.entitlement_type),
      label: keptText(one.label),
      description: keptText(one.description ?? ''),
      // Where a connector does not say it, it can be asked for.
      assignable: one.is_assignable ?? true,
    }))
    const { rows: seen } = await tx.execute<{ again: string }>(sql`
      with row as (
        select * from json_to_recordset(${JSON.stringify(rows)}::json) as row(external text,
          resource text, type text, label text, description text, assignable boolean)
      ), written as (
      insert into entitlements (domain_id, app_id, entitlement_type, resource_id, external_id, label,
        description, is_assignable, seen_run)
      select ${app.domainId}, ${app.id}, row.type, row.resource, row.external, row.label,
        row.description, row.assignable, ${run.id} from row
      on conflict (app_id, md5(resource_id || chr(1) || external_id)) do update set
        entitlement_type = excluded.entitlement_type, label = excluded.label,
        description = excluded.description, is_assignable = excluded.is_assignable,
        seen_run = excluded.seen_run, gone_at = null
      )
      select count(*) as again from row cross join lateral (
        select seen_run from entitlements where entitlements.app_id = ${app.id}
          and md5(entitlements.resource_id || chr(1) || entitlements.external_id)
            = md5(row.resource || chr(1) || row.external) ${EACH_BY_KEY}) old
      where old.seen_run = ${run.id}`)
    return {
      written: rows.length,
      repeated: Number(seen[0]?.again),
      left_out: found.length - kept.length,
    }
  },
}

export const ASSOCIATIONS: Listing<Output<'find_entitlement_associations'>[number]> = {
  capability: 'find_entitlement_associations',
  request: () => ({}),
  async write(tx, { run, app }, found) {
    const kept = found.filter(
      (one) =>
        isKeepable(one.account_id, MAX_ACCOUNT_ID) &&
        isKeepable(one.integration_specific_entitlement_id, MAX_ID) &&
        isResourceId(one.integration_specific_resource_id),
    )
    const rows = lastOfEach(
      kept.map((one) => ({
        a: one.account_id,
        r: one.integration_specific_resource_id,
        e: one.integration_specific_entitlement_id,
      })),
      ({ a, r, e }) => a + BETWEEN + r + BETWEEN + e,
    )
    const { rows: counted } = await tx.execute<{ n: string; again: string }>(sql`
      with joined as (
        select accounts.id as account_id, entitlements.id as entitlement_id
        from json_to_recordset(${JSON.stringify(rows)}::json) as row(a text, r text, e text)
        cross join lateral (select id from accounts where accounts.app_id = ${app.id}
          and accounts.unique_identifier = row.a ${EACH_BY_KEY}) accounts
        cross join lateral (select id from entitlements where entitlements.app_id = ${app.id}
          and md5(entitlements.resource_id || chr(1) || entitlements.external_id)
            = md5(row.r || chr(1) || row.e) ${EACH_BY_KEY}) entitlements
      ), written as (
        insert into associations (app_id, account_id, entitlement_id, seen_run)
        select ${app.id}, account_id, entitlement_id, ${run.id} from joined
        on conflict (app_id, account_id, entitlement_id) do update set seen_run = excluded.seen_run
        returning ${WAS_NEW} as was_new
      ), counted as (
        select count(*) as n, count(*) filter (where was_new) as fresh from written
      )
      select n, case fresh when n then 0 else (
        select count(*) from joined cross join lateral (
          select seen_run from associations where associations.app_id = ${app.id}
            and associations.account_id = joined.account_id
            and associations.entitlement_id = joined.entitlement_id ${EACH_BY_KEY}) old
        where old.seen_run = ${run.id}) end as again
      from counted`)
    const joined = Number(counted[0]?.n ?? 0)
    return {
      written: joined,
      repeated: Number(counted[0]?.again ?? 0),
      // Of accounts or entitlements that were not listed.
      loose: rows.length - joined,
      left_out: found.length - kept.length,
    }
  },
}
