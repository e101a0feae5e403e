/**
 * Roles in the whole cloud. Keystone never tells which of them are effective (it ignores the scope
 * then, and leaves them out), so groups and implied roles are looked up here.
 */
import { path } from 'keyway/sdk'
import type { User } from './accounts.ts'
import { type Ctx, readList, service } from './service.ts'

/** That a person holds a role somewhere. Of an effective one, `links` say what it comes by. */
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

/** Who holds which role in the whole cloud, given or effective as the settings want it. */
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

/** A role, and all that come with it. */
async function readImplied(ctx: Ctx): Promise<(role: string) => Set<string>> {
  const { role_inferences: all } = await service(ctx).get<Inferences>('/role_inferences')
  return (role) => {
    const found = new Set([role])
    // What is added while it is gone through is gone through as well.
    for (const one of found)
      for (const { prior_role, implies } of all)
        if (prior_role.id === one) for (const { id } of implies) found.add(id)
    return found
  }
}
