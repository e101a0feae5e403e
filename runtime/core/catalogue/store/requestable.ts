/** The permissions that stand for entitlements, as conditions of questions about what accounts hold. */
import { type SQL, sql } from 'drizzle-orm'

/** That a permission `p` stands for an entitlement `e` which is there: by the digest that its index holds. */
export const standsFor = (p: SQL, e: SQL): SQL => sql`${p}.app_id = ${e}.app_id
  and ${p}.gone_at is null and ${p}.entitlement_id is not null
  and md5(${p}.entitlement_type || chr(1) || ${p}.resource_id || chr(1) || ${p}.entitlement_id)
    = md5(${e}.entitlement_type || chr(1) || ${e}.resource_id || chr(1) || ${e}.external_id)`

/** That a permission `p` is shown in the app store; `store` are the settings of its app there. */
export const isShown = (p: SQL): SQL =>
  sql`(store.in_app_store is true and ${p}.visibility = 'VISIBLE')`

/** That an entitlement `e` can be asked for in the app store. */
export const isRequestable = (e: SQL): SQL => sql`exists (select from requestable_permissions asked
  join app_store_settings store on store.app_id = asked.app_id
  where ${standsFor(sql`asked`, e)} and ${isShown(sql`asked`)})`
