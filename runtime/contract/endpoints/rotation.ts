/** What operators read of a rotation of KEYWAY_SECRET, and how they end the tokens that nobody uses. */
import * as v from 'valibot'
import { row } from './operator-row.ts'

const describe = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.metadata({ description }))

const count = (of: string) => describe(v.number(), of)

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
  user: describe(v.string(), 'E-mail address of its owner'),
  created_at: describe(v.string(), 'ISO 8601, UTC'),
  last_used_at: v.nullable(describe(v.string(), 'ISO 8601, UTC, to the minute')),
})

export const Rotation = v.pipe(
  v.strictObject({
    newest: describe(v.string(), 'Id of the newest secret; the secret cannot be found from it'),
    since: describe(v.string(), 'When a host first started with it; ISO 8601, UTC'),
    older: describe(v.array(v.string()), 'Ids of the other secrets of the host that answers'),
    needed: describe(RotationNeeds, 'What still needs another secret than the newest'),
    tokens: describe(
      v.array(WaitingToken),
      'The API tokens of it, the last used first; 100 at most',
    ),
    page_tokens_until: v.nullable(
      describe(
        v.string(),
        'Until when page tokens may be about that an older secret has sealed; null: none any more',
      ),
    ),
    hosts_behind: describe(
      v.array(
        v.strictObject({
          node: v.string(),
          knows_newest: describe(
            v.boolean(),
            'False: until it restarts with the newest, nothing is made again with that',
          ),
        }),
      ),
      'Live hosts whose first secret is not the newest',
    ),
    safe_to_drop: describe(v.boolean(), 'Whether nothing needs an older secret any more'),
  }),
  v.metadata({
    title: 'Rotation',
    description: 'How far the change to the newest secret of KEYWAY_SECRET is',
  }),
)
export type Rotation = v.InferOutput<typeof Rotation>

export const ROTATION_ENDPOINTS = {
  get_rotation: row({
    method: 'GET',
    path: '/rotation',
    summary: 'Say how much still needs an older secret of KEYWAY_SECRET',
    output: Rotation,
  }),
  end_waiting_tokens: row({
    method: 'POST',
    path: '/rotation/end-tokens',
    summary: 'Revoke the API tokens that were not used since the newest secret is there',
    body: v.strictObject({
      dry_run: describe(v.optional(v.boolean(), false), 'Only count them'),
    }),
    output: v.strictObject({
      ended: describe(v.number(), 'How many were revoked, or would be'),
    }),
    errors: [422],
  }),
} as const
