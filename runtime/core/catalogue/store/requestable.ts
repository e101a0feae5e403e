/**
 * Conditions that link entitlements to requestable permissions, for queries about access that accounts hold.
 */
import { type SQL, sql } from 'drizzle-orm'

/**
 * Condition: the permission `p` stands for the existing entitlement `e`. Compares the digest that the index
 * holds.
 */
export const standsFor = (p: SQL, e: SQL): SQL => sql`${p}.app_id = ${e}.app_id
  and ${p}.gone_at is null and ${p}.entitlement_id is not null
  and md5(${p}.entitlement_type || chr(1) || ${p}.resource_id || chr(1) || ${p}.entitlement_id)
    = md5(${e}.entitlement_type || chr(1) || ${e}.resource_id || chr(1) || ${e}.external_id)`

/** Condition: the permission `p` is visible in the app store. `store` is its app's row of settings. */
export const isShown = (p: SQL): SQL =>
  sql`(store.in_app_store is true and ${p}.visibility = 'VISIBLE')`

/** Condition: the entitlement `e` can be requested in the app store. */
export const isRequestable = (e: SQL): SQL => sql`exists (select from requestable_permissions asked
  join app_store_settings store on store.app_id = asked.app_id
  where ${standsFor(sql`asked`, e)} and ${isShown(sql`asked`)})`
