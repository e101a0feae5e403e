/** Registries that are folders of files: what is published, what is installed from there, what a host remembers of them. */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { CHANGE, Uploaded } from './installing.ts'
import { row } from './operator-row.ts'
import { bool, int, text } from './params.ts'

/** Most versions that are shown of a connector, the newest first. */
export const MOST_VERSIONS_SHOWN = 50

/** How far ahead of a host's clock an index may be, in milliseconds. */
const MOST_AHEAD_MS = 86_400_000

/** Whether a version of an index, which is seconds since 1970 where clocks are right, is to come. */
export const isToCome = (version: number, now: Date): boolean =>
  version > (now.getTime() + MOST_AHEAD_MS) / 1000

/** Longest address of a registry, in characters. */
export const MAX_ADDRESS_LENGTH = 500
/** Most that one has: what an operator names, and a mirror. */
const MAX_ADDRESSES = 100

const Withdrawal = strictObject('PublishedWithdrawal', {
  at: described(v.string(), 'When its publisher withdrew it'),
  reason: described(v.string(), 'Why, in their words'),
})

const Published = strictObject('PublishedConnector', {
  id: v.string(),
  name: v.string(),
  description: v.string(),
  newest: described(v.nullable(v.string()), 'The newest version that runs here'),
  installed: described(v.nullable(v.string()), 'The version that serves here'),
  outdated: described(
    v.boolean(),
    'Whether a newer one than that is published, which an install would take',
  ),
  withdrawn: described(v.nullable(Withdrawal), 'The withdrawal of the version that serves here'),
  versions: described(
    v.array(
      v.strictObject({
        version: v.string(),
        digest: v.string(),
        runs_here: described(v.boolean(), 'Whether this runtime fits it'),
        signed: described(v.boolean(), 'Whether the package has a signature of its own'),
        withdrawn: described(v.nullable(Withdrawal), 'Set: it is not installed any more'),
      }),
    ),
    `The newest ${MOST_VERSIONS_SHOWN}`,
  ),
})
export type Published = v.InferOutput<typeof Published>

export const PUBLISHED_INDEX_ENDPOINTS = {
  list_published: row.get('/registry', {
    summary:
      'List the connectors that the registry of KEYWAY_REGISTRY has; 409 where it cannot be used',
    query: {
      search: text().describe('Only those that have all of these words'),
      outdated: bool(false).describe(
        'Only those of which an older or a withdrawn version serves here',
      ),
      limit: int({ min: 1, max: 500, default: 100 }).describe('Connectors per answer'),
      page: int({ min: 1, max: 10_000, default: 1 }).describe(
        'Which so many of them; the first is 1',
      ),
    },
    output: strictObject('PublishedConnectors', {
      registry: described(v.string(), 'Where the index was read'),
      publisher: described(v.string(), 'Whose trusted key signed it'),
      published_at: v.string(),
      expires_at: v.string(),
      total: described(v.number(), 'How many were found'),
      items: v.array(Published),
    }),
    errors: [409, 422],
  }),
  install_published: row.post('/registry/packages', {
    summary:
      'Fetch a package of the registry, check it and keep it; calls do not go to it before it is activated',
    body: v.object({
      name: described(
        v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
        'Id of the connector, with a version or a range: `acme@1.2.0`, `acme@^1` or `acme`',
      ),
      change_publisher: described(
        v.optional(v.boolean(), false),
        'The connector has changed hands',
      ),
      ...CHANGE,
    }),
    output: Uploaded,
    status: 201,
    errors: [409, 413, 415, 422],
  }),
  see_published_index: row.post('/published-indexes', {
    summary:
      'Remember the version of an index that a trusted publisher has signed; refused (409) where a newer one of the same registry was seen',
    body: v.strictObject({
      key: described(v.pipe(v.string(), v.maxLength(100)), 'Id of the key that signed it'),
      version: described(v.pipe(v.number(), v.safeInteger(), v.minValue(1)), 'Of the index'),
      registries: described(
        v.optional(
          v.pipe(
            v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_ADDRESS_LENGTH))),
            v.maxLength(MAX_ADDRESSES),
          ),
          [],
        ),
        'The addresses of the registry; without one, what was seen of the key counts',
      ),
    }),
    output: strictObject('SeenIndex', {
      key: v.string(),
      version: described(v.number(), 'The newest that was seen'),
    }),
    errors: [404, 409, 413, 415, 422],
  }),
} as const
