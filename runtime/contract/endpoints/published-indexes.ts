/**
 * Registries made of static files: published connectors, installation from them, and the index versions that
 * a host remembers.
 */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { CHANGE, Uploaded } from './installing.ts'
import { row } from './operator-row.ts'
import { bool, int, text } from './params.ts'

/** Maximum number of versions shown per connector, newest first. */
export const MAX_VERSIONS_SHOWN = 50

/** How far an index may be ahead of a host's clock, in milliseconds. */
const MAX_CLOCK_AHEAD_MS = 86_400_000

/**
 * Reports whether the version of an index lies in the future. If clocks are right, a version is seconds since
 * 1970.
 */
export const isFromFuture = (version: number, now: Date): boolean =>
  version > (now.getTime() + MAX_CLOCK_AHEAD_MS) / 1000

/** Maximum length of a registry's URL, in characters. */
export const MAX_ADDRESS_LENGTH = 500
/** Maximum number of URLs of a registry: those that an operator lists, and a mirror. */
const MAX_ADDRESSES = 100

const Withdrawal = strictObject('PublishedWithdrawal', {
  at: described(v.string(), 'Time at which its publisher withdrew it'),
  reason: described(v.string(), 'Reason that the publisher gave'),
})

const Published = strictObject('PublishedConnector', {
  id: v.string(),
  name: v.string(),
  description: v.string(),
  newest: described(v.nullable(v.string()), 'Newest version that this runtime supports'),
  installed: described(v.nullable(v.string()), 'Version that serves here'),
  outdated: described(
    v.boolean(),
    'Whether a newer version is published, which an install would use',
  ),
  withdrawn: described(v.nullable(Withdrawal), 'Withdrawal of the version that serves here'),
  versions: described(
    v.array(
      v.strictObject({
        version: v.string(),
        digest: v.string(),
        runs_here: described(v.boolean(), 'Whether it supports this runtime'),
        signed: described(v.boolean(), 'Whether the package has a signature of its own'),
        withdrawn: described(v.nullable(Withdrawal), 'If set, it can no longer be installed'),
      }),
    ),
    `The newest ${MAX_VERSIONS_SHOWN} versions`,
  ),
})
export type Published = v.InferOutput<typeof Published>

export const PUBLISHED_INDEX_ENDPOINTS = {
  list_published: row.get('/registry', {
    summary: 'List the connectors in the registry of KEYWAY_REGISTRY; 409 if it cannot be used',
    query: {
      search: text().describe('Only connectors that contain all of these words'),
      outdated: bool(false).describe(
        'Only connectors of which an older or a withdrawn version serves here',
      ),
      limit: int({ min: 1, max: 500, default: 100 }).describe('Connectors per response'),
      page: int({ min: 1, max: 10_000, default: 1 }).describe('Page number, starting at 1'),
    },
    output: strictObject('PublishedConnectors', {
      registry: described(v.string(), 'Source of the index'),
      publisher: described(v.string(), 'Publisher whose trusted key signed it'),
      published_at: v.string(),
      expires_at: v.string(),
      total: described(v.number(), 'Number of connectors found'),
      items: v.array(Published),
    }),
    errors: [409, 422],
  }),
  install_published: row.post('/registry/packages', {
    summary:
      'Fetch, check and store a package of the registry; it receives no calls until it is activated',
    body: v.object({
      name: described(
        v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
        'Id of the connector, optionally with a version or range: `acme@1.2.0`, `acme@^1` or `acme`',
      ),
      change_publisher: described(
        v.optional(v.boolean(), false),
        'Accept another publisher than before',
      ),
      ...CHANGE,
    }),
    output: Uploaded,
    status: 201,
    errors: [409, 413, 415, 422],
  }),
  see_published_index: row.post('/published-indexes', {
    summary:
      'Record the version of an index signed by a trusted publisher; refused (409) if a newer one of the same registry was seen',
    body: v.strictObject({
      key: described(v.pipe(v.string(), v.maxLength(100)), 'Id of the key that signed it'),
      version: described(
        v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
        'Version of the index',
      ),
      registries: described(
        v.optional(
          v.pipe(
            v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_ADDRESS_LENGTH))),
            v.maxLength(MAX_ADDRESSES),
          ),
          [],
        ),
        'URLs of the registry; if empty, the versions seen for the key count',
      ),
    }),
    output: strictObject('SeenIndex', {
      key: v.string(),
      version: described(v.number(), 'The newest version that was seen'),
    }),
    errors: [404, 409, 413, 415, 422],
  }),
} as const
