/**
 * Assignable entitlements become requestable permissions of type SYNCED, by this mapping:
 *
 *   label       `RESOURCE: ENTITLEMENT`, by their labels; `ENTITLEMENT` alone for the global resource
 *   visibility  HIDDEN, until an admin shows it
 *   gone_at     when the entitlement was found removed or no longer assignable; null again once it is back
 *
 * Changes by an admin stay: the request settings always, the label if it differs from that of the last sync.
 */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { checkpoint, type Progress, toNext, type Walk } from './runs.ts'

/** Number of entitlements per step. */
const BATCH = 2000
/** contract/models/requestable-permission.ts: MAX_LABEL. */
const MAX_LABEL = 512

export async function syncPermissions(walk: Walk): Promise<void> {
  const { app, run, db } = walk
  while (!walk.over()) {
    const after = Number(run.cursor ?? 0)
    const { rows } = await db.execute<{ last: string | null }>(sql`
      select max(id) as last from (select id from entitlements
        where app_id = ${app.id} and id > ${after} order by id limit ${BATCH}) as batch`)
    const last = rows[0]?.last ?? null
    if (last === null) return checkpoint(walk, (tx) => endPermissions(tx, walk))
    await checkpoint(walk, async (tx) => {
      const { rows } = await tx.execute<{ made: string; changed: string }>(sql`
        with found as (
          select e.*, coalesce(r.resource_type, '') as resource_type,
            coalesce(nullif(left(case when r.label is null then e.label
              else r.label || ': ' || e.label end, ${MAX_LABEL}), ''), '-') as made,
            case when e.gone_at is null and e.is_assignable then null
              else coalesce(e.gone_at, now()) end as is_gone
          from entitlements e
          left join resources r on r.app_id = e.app_id and e.resource_id <> ''
            and md5(r.external_id) = md5(e.resource_id)
          where e.app_id = ${app.id} and e.id > ${after} and e.id <= ${last}
        ), made as (
          insert into requestable_permissions (domain_id, app_id, type, label, synced_label,
            entitlement_type, entitlement_id, resource_type, resource_id)
          select domain_id, app_id, 'SYNCED', made, made, entitlement_type, external_id,
            resource_type, resource_id
          from found where is_gone is null
          on conflict do nothing returning 1
        ), changed as (
          update requestable_permissions p set
          label = case when p.label = p.synced_label then found.made else p.label end,
          synced_label = found.made, resource_type = found.resource_type,
          gone_at = case when found.is_gone is null then null else coalesce(p.gone_at, found.is_gone) end,
          updated_at = now()
        from found
        where p.app_id = ${app.id} and p.entitlement_id is not null
          and md5(p.entitlement_type || chr(1) || p.resource_id || chr(1) || p.entitlement_id)
            = md5(found.entitlement_type || chr(1) || found.resource_id || chr(1) || found.external_id)
          and (p.synced_label is distinct from found.made
            or p.resource_type is distinct from found.resource_type
            or (p.gone_at is null) <> (found.is_gone is null))
          returning 1
        )
        select (select count(*) from made) as made, (select count(*) from changed) as changed`)
      const counted = {
        permissions_made: Number(rows[0]?.made ?? 0),
        permissions_changed: Number(rows[0]?.changed ?? 0),
      }
      return { cursor: last, counted }
    })
  }
}

/** Marks the permissions whose entitlement no longer exists with their type. */
async function endPermissions(tx: Db, walk: Walk): Promise<Progress> {
  const { rowCount } = await tx.execute(sql`
    update requestable_permissions p set gone_at = now(), updated_at = now()
    where p.app_id = ${walk.app.id} and p.entitlement_id is not null and p.gone_at is null
      and not exists (select from entitlements e where e.app_id = p.app_id
        and md5(e.resource_id || chr(1) || e.external_id) = md5(p.resource_id || chr(1) || p.entitlement_id)
        and e.entitlement_type = p.entitlement_type)`)
  const changed = (walk.run.counts['permissions_changed'] ?? 0) + (rowCount ?? 0)
  // A permission that a policy grants may have been removed, or be back.
  if (changed > 0) await walk.parts.listeners.appChanged(tx, walk.app)
  return { ...toNext(walk), counted: { permissions_changed: rowCount ?? 0 } }
}
