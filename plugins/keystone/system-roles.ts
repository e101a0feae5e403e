/**
 * Roles in the whole cloud. Keystone never returns the effective ones (it ignores the scope and leaves them
 * out), so groups and implied roles are resolved here.
 */
import { path } from 'keyway/sdk'
import type { User } from './accounts.ts'
import { type Ctx, readList, service } from './service.ts'

/** Role assignment. `links` tell how an effective role is obtained. */
export type Assignment = {
  user?: { id: string }
  group?: { id: string }
  role: { id: string }
  scope: {
    system?: object
    domain?: { id: string }
    project?: { id: string }
    'OS-INHERIT:inherited_to'?: string
  }
  links?: { membership?: string; prior_role?: string; assignment?: string }
}

type Inferences = {
  role_inferences: { prior_role: { id: string }; implies: { id: string }[] }[]
}

/** Returns the role assignments in the whole cloud, direct or effective as the settings request. */
export async function systemRoles(ctx: Ctx): Promise<Assignment[]> {
  const given = await readList<Assignment>(ctx, '/role_assignments', { 'scope.system': 'all' })
  const held = given.filter(({ scope }) => scope.system !== undefined)
  if (ctx.settings.associations === 'direct' || held.length === 0) return held
  const implied = await readImplied(ctx)
  const all: Assignment[] = []
  for (const { user, group, role, scope } of held) {
    const holders = user
      ? [user]
      : await readList<User>(ctx, path`/groups/${group?.id ?? ''}/users`)
    for (const { id } of holders)
      for (const one of implied(role.id)) all.push({ user: { id }, role: { id: one }, scope })
  }
  return all
}

/** Returns a function for the set of a role and all roles that it implies. */
async function readImplied(ctx: Ctx): Promise<(role: string) => Set<string>> {
  const { role_inferences: all } = await service(ctx).get<Inferences>('/role_inferences')
  return (role) => {
    const found = new Set([role])
    // Items added to a set during iteration are visited, too.
    for (const one of found)
      for (const { prior_role, implies } of all)
        if (prior_role.id === one) for (const { id } of implies) found.add(id)
    return found
  }
}
