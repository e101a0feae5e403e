/** Operations that belong to no connector: health, metrics, documents, the list of connectors. */
import * as v from 'valibot'
import { ConnectorListing } from '../../contract/models/connector-listing.ts'
import { PEOPLE_COLUMNS, PeopleDifference } from '../../contract/models/people-file.ts'
import { described, object } from '../../contract/schema/schemas.ts'
import { LoginLink, LoginLinkWish } from '../operator/login-links.ts'
import { HostProof, PROOF_QUERY } from '../operator/proof.ts'
import { IMPORT_QUERY } from '../operator/routes.ts'
import type { Components } from '../schemas/json-schema.ts'
import { Detail, pathParameters, queryParameters } from './core.ts'
import type { OpenApiResponse, Operation, PathItem } from './document.ts'
import { lifecyclePaths } from './lifecycle.ts'
import { TAGS } from './operations.ts'
import { ADMIN_SECURITY, answer, CONNECTOR_SECURITY, failures } from './responses.ts'

/** Answer to `GET /readyz`. */
const Readiness = object('Readiness', 'Whether it can serve, and how safely', {
  ready: v.boolean(),
  waiting_for: v.array(v.string()),
  generation: described(v.number(), 'The generation that this host serves'),
  connectors: described(v.pipe(v.number(), v.integer()), 'Being served'),
  containment: described(
    v.object({
      level: v.picklist(['full', 'partial', 'basic']),
      layers: v.array(v.string()),
      missing: v.array(v.object({ name: v.string(), stops: v.string() })),
    }),
    'Containment of connectors on this machine',
  ),
  processes: described(
    v.object({
      wanted: v.pipe(v.number(), v.integer()),
      serving: v.pipe(v.number(), v.integer()),
    }),
    'Of this host, serving the same port',
  ),
  scheduling: described(
    v.object({
      means: v.array(v.picklist(['nice', 'autogroup'])),
      raises: described(v.boolean(), 'Whether a healthy worker starts again'),
    }),
    'How the host takes precedence over workers',
  ),
})

const Health = v.object({ status: v.literal('ok') })
const Released = v.object({ id: v.string(), released: v.boolean() })
const Listings = v.object({ items: v.array(ConnectorListing) })

/** Creates the paths that do not depend on a connector. */
export function operatingPaths(components: Components): Record<string, PathItem> {
  const json = (description: string, schema: v.GenericSchema) =>
    answer(description, components.schema(schema, 'output'))
  const document = answer('The document', { type: 'object' })
  const ready = { 200: json('It can serve', Readiness), 503: json('Not yet', Readiness) }
  return {
    '/healthz': get('healthz', 'Whether the process is alive', { 200: json('It lives', Health) }),
    '/readyz': get(
      'readyz',
      'Whether it can serve, what it waits for, and its containment level',
      ready,
    ),
    '/readyz/connectors': get(
      'readyzConnectors',
      'The same for connectors only, which also work while the database is unavailable',
      ready,
    ),
    '/metrics': get(
      'metrics',
      'Metrics in the text format of Prometheus',
      { 200: media('The metrics', 'text/plain'), ...failures(401) },
      { security: CONNECTOR_SECURITY },
    ),
    '/openapi.json': get('openapi', 'This document', { 200: document }),
    '/docs': get('docs', 'The documentation, as pages for people', {
      200: media('The first page', 'text/html'),
    }),
    '/docs/api': get('docs_api', 'This document as a page for people', {
      200: media('The page', 'text/html'),
    }),
    '/schemas/connector.json': get('connector_schema', 'The JSON Schema of connector.json', {
      200: document,
    }),
    '/integrations/{app_class_id}/logo': get(
      'get_integration_logo',
      'The logo of an integration',
      { 200: media('The picture', 'image/*'), 404: json('There is none', Detail) },
      { tags: ['Integrations'], parameters: pathParameters('/:app_class_id') },
    ),
    '/operator/connectors': get(
      'list_connectors',
      'List all connectors, including those that are not served, with reasons',
      { 200: json('The connectors', Listings), ...failures(401, 403, 503) },
      { security: ADMIN_SECURITY },
    ),
    '/operator/connectors/{connector_id}/release': post(
      'release_connector',
      'End the suspicion or quarantine of a connector on this host',
      {
        200: json('Whether there was something to end', Released),
        ...failures(401, 403, 404, 405, 503),
      },
      { parameters: pathParameters('/:connector_id'), security: ADMIN_SECURITY },
    ),
    ...lifecyclePaths(components),
    '/operator/users/import': post(
      'import_people',
      'Import people from a CSV file: the whole file or nothing',
      {
        200: json('What was changed, or would be', PeopleDifference),
        ...failures(401, 403, 405, 409, 413, 415, 422, 503),
      },
      {
        description: importWords(),
        parameters: queryParameters(IMPORT_QUERY),
        requestBody: { required: true, content: { 'text/csv': { schema: { type: 'string' } } } },
        security: ADMIN_SECURITY,
      },
    ),
    '/operator/proof': get(
      'prove_host',
      'Prove that this host knows a token, before a command sends it',
      { 200: json('What proves it', HostProof), ...failures(405, 409, 422, 503) },
      { parameters: queryParameters(PROOF_QUERY) },
    ),
    '/operator/login-links': post(
      'create_login_link',
      'Make a link that signs a user in to the pages, once and within ten minutes',
      {
        201: json('The link', LoginLink),
        ...failures(401, 403, 404, 405, 409, 413, 415, 422, 503),
      },
      {
        requestBody: {
          required: true,
          content: { 'application/json': { schema: components.schema(LoginLinkWish, 'input') } },
        },
        security: ADMIN_SECURITY,
      },
    ),
  }
}

function importWords(): string {
  const columns = Object.entries(PEOPLE_COLUMNS).map(
    ([name, meaning]) => `- \`${name}\`: ${meaning}`,
  )
  return [
    'The first line names the columns. A missing column leaves values unchanged, an empty cell clears them. Any other column is a custom attribute. People who are missing from the file are not removed.',
    '',
    ...columns,
  ].join('\n')
}

/**
 * Creates an operation of the host itself. It needs no token unless `more` states one, and refuses a wrong
 * host name.
 */
const operation = (
  operationId: string,
  summary: string,
  responses: Operation['responses'],
  more: Partial<Operation> = {},
): Operation => ({
  ...{ operationId, tags: [TAGS.Operating.name], summary, security: [] },
  responses: { ...responses, ...failures(421) },
  ...more,
})

const get = (...given: Parameters<typeof operation>): PathItem => ({ get: operation(...given) })
const post = (...given: Parameters<typeof operation>): PathItem => ({ post: operation(...given) })

function media(description: string, type: string): OpenApiResponse {
  return { description, content: { [type]: { schema: { type: 'string' } } } }
}
