/** SIDE: the places of the console, and who may open them. Its area is there for everyone who may open one. */
import type { Permission, RoleName } from '../../contract/models/roles.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import type { Icon } from './icons.ts'

type Row = {
  path: string
  words: string
  icon: Icon
  group: '' | 'Access' | 'Runtime'
  /** The permission that opens it; null: everyone who may open another place. */
  who: Permission | null
  /** Whether admins of an app see their part of it. */
  ofApps?: true
}

export const SIDE = {
  home: { path: '/console', words: 'Overview', icon: 'home', group: '', who: null },
  log: { path: '/console/log', words: 'Activity log', icon: 'list', group: '', who: 'logs.read' },
  people: {
    path: '/console/people',
    words: 'People',
    icon: 'user',
    group: 'Access',
    who: 'users.read',
  },
  apps: {
    path: '/console/apps',
    words: 'Apps',
    icon: 'grid',
    group: 'Access',
    who: 'apps.read',
    ofApps: true,
  },
  requests: {
    path: '/console/requests',
    words: 'Requests',
    icon: 'hand',
    group: 'Access',
    who: 'tasks.read',
    ofApps: true,
  },
  policies: {
    path: '/console/policies',
    words: 'Policies',
    icon: 'rule',
    group: 'Access',
    who: 'policies.read',
  },
  reviews: {
    path: '/console/reviews',
    words: 'Access reviews',
    icon: 'shield',
    group: 'Access',
    who: 'reviews.read',
  },
  connectors: {
    path: '/console/connectors',
    words: 'Connectors',
    icon: 'plug',
    group: 'Runtime',
    who: 'operator',
  },
  webhooks: {
    path: '/console/webhooks',
    words: 'Webhooks',
    icon: 'link',
    group: 'Runtime',
    who: 'operator',
  },
  background: {
    path: '/console/background',
    words: 'Background',
    icon: 'sync',
    group: 'Runtime',
    who: 'operator',
  },
} as const satisfies Record<string, Row>

export type Place = keyof typeof SIDE

type Who = { permissions: ReadonlySet<Permission>; roles: readonly RoleName[] }

/** The places that a person may open, in their order; none for most. */
export function placesOf({ permissions, roles }: Who): Place[] {
  const isOpen = ({ who, ofApps }: Row): boolean =>
    (who !== null && permissions.has(who)) || (ofApps === true && roles.includes('App Admin'))
  const open = keysOf(SIDE).filter((name) => isOpen(SIDE[name]))
  return open.length === 0
    ? []
    : keysOf(SIDE).filter((name) => SIDE[name].who === null || open.includes(name))
}
