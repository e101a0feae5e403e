/** What operators read of a rotation of KEYWAY_SECRET, and how they end the tokens that nobody uses. */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'

const count = (of: string) => described(v.number(), of)

/** What older secrets have made and is still good, by kind: how many. */
export const RotationNeeds = v.strictObject({
  api_tokens: count(
    'API tokens that were not used since; each use hashes one again with the newest secret',
  ),
  scim_tokens: count(
    'SCIM tokens that were not used since; each use hashes one again with the newest secret',
  ),
  sessions: count('Sessions of the settings pages; they end within eight hours'),
  login_links: count('Links that sign a user in; they end within ten minutes'),
  apps: count('Apps whose credentials are sealed; hosts seal them again by themselves'),
  inline_webhooks: count('Inline webhooks whose secrets are sealed; as with apps'),
  probes: count('Credentials that new versions are tried with; as with apps'),
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
  'How far the change to the newest secret of KEYWAY_SECRET is',
  {
    newest: described(v.string(), 'Id of the newest secret; the secret cannot be found from it'),
    since: described(v.string(), 'When a host first started with it; ISO 8601, UTC'),
    older: described(v.array(v.string()), 'Ids of the other secrets of the host that answers'),
    needed: described(RotationNeeds, 'What still needs another secret than the newest'),
    tokens: described(
      v.array(WaitingToken),
      'The API tokens of it, the last used first; 100 at most',
    ),
    page_tokens_until: v.nullable(
      described(
        v.string(),
        'Until when page tokens may be about that an older secret has sealed; null: none any more',
      ),
    ),
    hosts_behind: described(
      v.array(
        v.strictObject({
          node: v.string(),
          knows_newest: described(
            v.boolean(),
            'False: until it restarts with the newest, nothing is made again with that',
          ),
        }),
      ),
      'Live hosts whose first secret is not the newest',
    ),
    safe_to_drop: described(v.boolean(), 'Whether nothing needs an older secret any more'),
  },
)
export type Rotation = v.InferOutput<typeof Rotation>

export const ROTATION_ENDPOINTS = {
  get_rotation: row.get('/rotation', {
    summary: 'Say how much still needs an older secret of KEYWAY_SECRET',
    output: Rotation,
  }),
  end_waiting_tokens: row.post('/rotation/end-tokens', {
    summary: 'Revoke the API tokens that were not used since the newest secret is there',
    body: v.strictObject({
      dry_run: described(v.optional(v.boolean(), false), 'Only count them'),
    }),
    output: v.strictObject({
      ended: described(v.number(), 'How many were revoked, or would be'),
    }),
    errors: [422],
  }),
} as const
