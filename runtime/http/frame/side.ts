/**
 * SIDE: places of the console, and the permissions that open them. The console is shown to everyone who may
 * open one of them.
 */
import type { Permission, RoleName } from '../../contract/models/roles.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import type { PlainWords } from '../../words/page-words.ts'
import type { Icon } from './icons.ts'

type Row = {
  path: string
  /** Key of its text. */
  words: PlainWords
  icon: Icon
  group: 'side_access' | 'side_runtime' | null
  /** Permission that opens it. Null if everyone who may open another place may open this one. */
  who: Permission | null
  /** Whether app admins see their part of it. */
  ofApps?: true
}

const access = <const R extends Omit<Row, 'group'>>(row: R) =>
  ({ ...row, group: 'side_access' }) as const
/** A place for operators. */
const runtime = <const R extends Omit<Row, 'group' | 'who'>>(row: R) =>
  ({ ...row, group: 'side_runtime', who: 'operator' }) as const

export const SIDE = {
  home: { path: '/console', words: 'overview', icon: 'home', group: null, who: null },
  log: { path: '/console/log', words: 'activity_log', icon: 'list', group: null, who: 'logs.read' },
  people: access({ path: '/console/people', words: 'people', icon: 'user', who: 'users.read' }),
  apps: access({
    path: '/console/apps',
    words: 'apps',
    icon: 'grid',
    who: 'apps.read',
    ofApps: true,
  }),
  requests: access({
    path: '/console/requests',
    words: 'access_requests',
    icon: 'hand',
    who: 'tasks.read',
    ofApps: true,
  }),
  policies: access({
    path: '/console/policies',
    words: 'policies',
    icon: 'rule',
    who: 'policies.read',
  }),
  reviews: access({
    path: '/console/reviews',
    words: 'reviews',
    icon: 'shield',
    who: 'reviews.read',
  }),
  cost: access({ path: '/console/cost', words: 'cost', icon: 'coin', who: 'expenses.read' }),
  scim: access({
    path: '/console/scim-tokens',
    words: 'scim_tokens',
    icon: 'key',
    who: 'scim.read',
  }),
  connectors: runtime({ path: '/console/connectors', words: 'connectors', icon: 'plug' }),
  webhooks: runtime({ path: '/console/webhooks', words: 'webhooks', icon: 'link' }),
  background: runtime({ path: '/console/background', words: 'background', icon: 'sync' }),
  settings: runtime({ path: '/console/settings', words: 'host_settings', icon: 'dials' }),
} as const satisfies Record<string, Row>

export type Place = keyof typeof SIDE

type Who = { permissions: ReadonlySet<Permission>; roles: readonly RoleName[] }

/** Returns the places that a person may open, in order. For most people there are none. */
export function placesOf({ permissions, roles }: Who): Place[] {
  const isOpen = ({ who, ofApps }: Row): boolean =>
    (who !== null && permissions.has(who)) || (ofApps === true && roles.includes('App Admin'))
  const open = keysOf(SIDE).filter((name) => isOpen(SIDE[name]))
  return open.length === 0
    ? []
    : keysOf(SIDE).filter((name) => SIDE[name].who === null || open.includes(name))
}
