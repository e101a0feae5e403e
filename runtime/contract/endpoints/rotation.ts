/** Progress of a rotation of KEYWAY_SECRET for operators, and revocation of unused tokens. */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'

const count = (of: string) => described(v.number(), of)

/** Items made with older secrets that are still valid, counted by kind. */
export const RotationNeeds = v.strictObject({
  api_tokens: count('API tokens not used since then; each use rehashes one with the newest secret'),
  scim_tokens: count(
    'SCIM tokens not used since then; each use rehashes one with the newest secret',
  ),
  sessions: count('Sessions of the settings pages; they end within eight hours'),
  login_links: count('Links that sign a user in; they end within ten minutes'),
  apps: count('Apps with sealed credentials; hosts reseal them automatically'),
  inline_webhooks: count('Inline webhooks with sealed secrets; resealed automatically'),
  probes: count('Credentials for trying new versions; resealed automatically'),
})
export type RotationNeeds = v.InferOutput<typeof RotationNeeds>

const WaitingToken = v.strictObject({
  id: v.string(),
  name: v.string(),
  user: described(v.string(), 'E-mail address of its owner'),
  created_at: described(v.string(), 'ISO 8601, UTC'),
  last_used_at: v.nullable(described(v.string(), 'ISO 8601, UTC, to the minute')),
})

export const Rotation = strictObject(
  'Rotation',
  'Progress of the change to the newest secret of KEYWAY_SECRET',
  {
    newest: described(
      v.string(),
      'Id of the newest secret, from which the secret cannot be derived',
    ),
    since: described(v.string(), 'Time at which a host first started with it; ISO 8601, UTC'),
    older: described(v.array(v.string()), 'Ids of the other secrets of the responding host'),
    needed: described(RotationNeeds, 'Items that still need an older secret'),
    tokens: described(v.array(WaitingToken), 'API tokens among them, last used first; at most 100'),
    page_tokens_until: v.nullable(
      described(
        v.string(),
        'Time until which page tokens sealed by an older secret may be in use; null: none are left',
      ),
    ),
    hosts_behind: described(
      v.array(
        v.strictObject({
          node: v.string(),
          knows_newest: described(
            v.boolean(),
            'False: until it restarts with the newest secret, nothing is resealed with it',
          ),
        }),
      ),
      'Live hosts whose first secret is not the newest',
    ),
    safe_to_drop: described(v.boolean(), 'Whether older secrets can be dropped'),
  },
)
export type Rotation = v.InferOutput<typeof Rotation>

export const ROTATION_ENDPOINTS = {
  get_rotation: row.get('/rotation', {
    summary: 'Count the items that still need an older secret of KEYWAY_SECRET',
    output: Rotation,
  }),
  end_waiting_tokens: row.post('/rotation/end-tokens', {
    summary: 'Revoke the API tokens that were not used since the newest secret was added',
    body: v.strictObject({
      dry_run: described(v.optional(v.boolean(), false), 'Only count the tokens'),
    }),
    output: v.strictObject({
      ended: described(v.number(), 'Number of tokens that were revoked, or would be'),
    }),
    errors: [422],
  }),
} as const
