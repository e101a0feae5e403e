/** Apps and permissions that a policy can grant: found by name, or already chosen. */
import { queryOf } from '../../contract/endpoints/table.ts'
import { listApps } from '../../core/catalogue/apps/apps.ts'
import { listPermissions } from '../../core/catalogue/store/permissions.ts'
import type { Principal } from '../../core/kernel/identity/principal.ts'
import { thingNames } from '../../core/policies/policies.ts'
import type { Db } from '../../database/database.ts'
import type { PageLocale } from '../frame/locale.ts'

/** Maximum number of apps that a search finds, and of permissions shown for each. */
const MAX_APPS = 10
const MAX_PERMISSIONS = 50

export type PolicyChoice = {
  /** Id of an app, or `app id/permission id`. */
  value: string
  appId: string
  app: string
  words: string
}

const thing = (
  t: PageLocale,
  appId: string,
  app: string,
  permission: { id: string; label: string } | null,
) => ({
  ...{ appId, app },
  value: permission === null ? appId : `${appId}/${permission.id}`,
  words:
    permission === null
      ? t.console.policy_edit.itself(app)
      : t.console.policy_edit.inApp(permission.label, app),
})

/** Returns the chosen apps and permissions with their names. One that no longer exists is named by its id. */
export async function thingsNamed(
  t: PageLocale,
  db: Db,
  { domainId }: Principal,
  values: readonly string[],
): Promise<PolicyChoice[]> {
  const all = values.map((value) => value.split('/'))
  const names = await thingNames(db, domainId, all)
  return all.map(([appId = '', permission]) => {
    const app = names.get(appId) ?? appId
    return thing(
      t,
      appId,
      app,
      permission === undefined
        ? null
        : { id: permission, label: names.get(permission) ?? permission },
    )
  })
}

/** Returns the apps whose name contains a text, each with its permissions. */
export async function thingsFound(
  t: PageLocale,
  db: Db,
  principal: Principal,
  name: string,
): Promise<PolicyChoice[]> {
  const wanted = queryOf('list_apps', {
    ...{ name_search: name, disconnected: false, size: MAX_APPS },
  })
  const apps = await listApps(db, principal, wanted)
  const things: PolicyChoice[] = []
  for (const { id, user_friendly_label: label } of apps.items) {
    const query = queryOf('list_app_permissions', {
      ...{ include_inherited_configs: false, size: MAX_PERMISSIONS },
    })
    const permissions = await listPermissions(db, principal, id, query)
    things.push(
      thing(t, id, label, null),
      ...permissions.items.map((one) =>
        thing(t, id, label, { id: String(one.id), label: String(one.label) }),
      ),
    )
  }
  return things
}
