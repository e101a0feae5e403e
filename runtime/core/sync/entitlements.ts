/** Writes pages of resources and entitlements. */
import { sql } from 'drizzle-orm'
import type { Output } from '../../contract/capabilities/capabilities.ts'
import {
  EACH_BY_KEY,
  entitlementKey,
  isKeepable,
  isResourceId,
  keptText,
  lastOfEach,
  MAX_ID,
} from './kept.ts'
import type { SyncListing } from './listing.ts'

export const RESOURCES: SyncListing<Output<'list_resources'>[number]> = {
  capability: 'list_resources',
  request: () => ({}),
  keyOf: (one) => one.integration_specific_id,
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

export const ENTITLEMENTS: SyncListing<Output<'list_entitlements'>[number]> = {
  capability: 'list_entitlements',
  request: () => ({ custom_attributes: [] }),
  keyOf: entitlementKey,
  async write(tx, { run, app }, found) {
    const kept = found.filter(
      (one) =>
        isKeepable(one.integration_specific_id, MAX_ID) &&
        isResourceId(one.integration_specific_resource_id),
    )
    const rows = lastOfEach(kept, entitlementKey).map((one) => ({
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
