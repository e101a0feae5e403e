/** Writes pages of resources and entitlements. */
import { sql } from 'drizzle-orm'
import type { Output } from '../../contract/capabilities/capabilities.ts'
import { isKeepable } from '../kernel/kept-text.ts'
import { asRows, type SyncListing } from './listing.ts'
import { eachOf, entitlementKey, isResourceId, listedText, MAX_ID } from './storable-texts.ts'
import { writeRows } from './write-rows.ts'

type FoundResource = Output<'list_resources'>[number]

const resourceRow = (one: FoundResource) => ({
  external: one.integration_specific_id,
  type: listedText(one.resource_type),
  label: listedText(one.label),
})

export const RESOURCES: SyncListing<FoundResource, ReturnType<typeof resourceRow>[]> = {
  capability: 'list_resources',
  request: () => ({}),
  arrive: asRows,
  prepare: (_walk, arrived) =>
    eachOf(
      arrived.flat(),
      (one) => isKeepable(one.integration_specific_id, MAX_ID),
      (one) => one.integration_specific_id,
      resourceRow,
    ),
  write(tx, { run, app }, rows, { isNew }) {
    return writeRows(tx, {
      ...{ isNew, count: rows.length, run: run.id },
      given: sql`select * from json_to_recordset(${JSON.stringify(rows)}::json)
        as row(external text, type text, label text)`,
      insert: sql`
        insert into resources (domain_id, app_id, resource_type, external_id, label, seen_run)
        select ${app.domainId}, ${app.id}, row.type, row.external, row.label, ${run.id} from row`,
      update: sql`on conflict (app_id, md5(external_id)) do update set
        resource_type = excluded.resource_type, label = excluded.label,
        seen_run = excluded.seen_run, gone_at = null`,
      old: sql`select seen_run from resources where resources.app_id = ${app.id}
        and md5(resources.external_id) = md5(row.external)`,
    })
  },
}

type FoundEntitlement = Output<'list_entitlements'>[number]

const entitlementRow = (one: FoundEntitlement) => ({
  external: one.integration_specific_id,
  resource: one.integration_specific_resource_id,
  type: listedText(one.entitlement_type),
  label: listedText(one.label),
  description: listedText(one.description ?? ''),
  // If the connector does not specify it, the entitlement can be requested.
  assignable: one.is_assignable ?? true,
})

export const ENTITLEMENTS: SyncListing<FoundEntitlement, ReturnType<typeof entitlementRow>[]> = {
  capability: 'list_entitlements',
  request: () => ({ custom_attributes: [] }),
  arrive: asRows,
  prepare: (_walk, arrived) =>
    eachOf(
      arrived.flat(),
      (one) =>
        isKeepable(one.integration_specific_id, MAX_ID) &&
        isResourceId(one.integration_specific_resource_id),
      entitlementKey,
      entitlementRow,
    ),
  write(tx, { run, app }, rows, { isNew }) {
    return writeRows(tx, {
      ...{ isNew, count: rows.length, run: run.id },
      given: sql`select * from json_to_recordset(${JSON.stringify(rows)}::json) as row(external text,
        resource text, type text, label text, description text, assignable boolean)`,
      insert: sql`
        insert into entitlements (domain_id, app_id, entitlement_type, resource_id, external_id, label,
          description, is_assignable, seen_run)
        select ${app.domainId}, ${app.id}, row.type, row.resource, row.external, row.label,
          row.description, row.assignable, ${run.id} from row`,
      update: sql`on conflict (app_id, md5(resource_id || chr(1) || external_id)) do update set
        entitlement_type = excluded.entitlement_type, label = excluded.label,
        description = excluded.description, is_assignable = excluded.is_assignable,
        seen_run = excluded.seen_run, gone_at = null`,
      old: sql`select seen_run from entitlements where entitlements.app_id = ${app.id}
        and md5(entitlements.resource_id || chr(1) || entitlements.external_id)
          = md5(row.resource || chr(1) || row.external)`,
    })
  },
}
