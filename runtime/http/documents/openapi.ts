/** The OpenAPI 3.1 document of the whole interface, read from the tables of the contract. */
import * as v from 'valibot'
import { atOnce, type Steps } from '../../bounded/slices.ts'
import { anyCredentials } from '../../contract/envelope/envelope-schemas.ts'
import { object } from '../../contract/schema/schemas.ts'
import { type Components, createComponents } from '../schemas/json-schema.ts'
import { CORE_TAGS, coreSteps } from './core.ts'
import type { OpenApiDocument, Operation, Parameter, PathItem } from './document.ts'
import { operatingPaths } from './operating.ts'
import {
  AUTOMATIC,
  capabilityParts,
  infoPath,
  ORDERED_NAMES,
  postOperation,
  type Surroundings,
  TAGS,
} from './operations.ts'
import { answer, CONNECTOR_SECURITY, failures, sharedComponents } from './responses.ts'
import { SCIM_TAG, scimSteps } from './scim.ts'

/** Version of the interface, as in service.md section 9. */
const INTERFACE_DOCUMENT_VERSION = '0.0.0'

const connectorId: Parameter = {
  name: 'connector_id',
  in: 'path',
  required: true,
  description: 'The connector; `-` and `_` are one spelling',
  schema: { type: 'string' },
}

const ANY_CONNECTOR: Surroundings = {
  parameters: [connectorId],
  envelope: { credentials: anyCredentials },
  example: { auth: { token: { token: 'your-token' } } },
}

const ConnectorIds = object('ListConnectorAppIdsResponse', { response: v.array(v.string()) })

/** Location of the interface. */
type DocumentOptions = {
  /** Prefix of the connector interface, such as `/connectors`. */
  connectorsPath: string
  serverUrl?: string
}

/** Creates the document of everything that is served: `GET /openapi.json`. */
export const connectorInterfaceDocument = (options: DocumentOptions): OpenApiDocument =>
  atOnce(documentSteps(options))

/** Creates the document in steps, because it takes 100 ms at once. */
export function* documentSteps({
  connectorsPath,
  serverUrl,
}: DocumentOptions): Steps<OpenApiDocument> {
  const components = createComponents()
  const at = (name: string) => `${connectorsPath}/{connector_id}/${name}`
  const { info, app_info: appInfo } = AUTOMATIC
  const shared = sharedComponents(components)
  const post = (parts: Parameters<typeof postOperation>[0]) =>
    postOperation(parts, ANY_CONNECTOR, components)
  const paths: Record<string, PathItem> = {
    [`${connectorsPath}/list-connector-app-ids`]: connectorIdsPath(components),
    [at('info')]: infoPath(ANY_CONNECTOR, post(info)),
    [at('app_info')]: { post: post(appInfo) },
  }
  for (const name of ORDERED_NAMES) {
    paths[at(name)] = { post: post(capabilityParts(name)) }
    yield
  }
  Object.assign(paths, yield* coreSteps(components))
  Object.assign(paths, yield* scimSteps(components))
  Object.assign(paths, operatingPaths(components))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Keyway',
      version: INTERFACE_DOCUMENT_VERSION,
      description: 'One interface to the accounts and entitlements of many systems.',
    },
    ...(serverUrl === undefined ? {} : { servers: [{ url: serverUrl }] }),
    tags: [...Object.values(TAGS), ...CORE_TAGS, SCIM_TAG],
    paths,
    components: { schemas: components.all(), ...shared },
  }
}

function connectorIdsPath(components: Components): PathItem {
  const list: Operation = {
    operationId: 'list_connector_app_ids',
    tags: [TAGS.Learning.name],
    summary: 'List the ids of the connectors that can be used',
    'x-capability-level': 'read',
    responses: {
      200: answer('The ids', components.schema(ConnectorIds, 'output')),
      ...failures(401, 421),
    },
    security: CONNECTOR_SECURITY,
  }
  return { get: list, post: { ...list, operationId: 'list_connector_app_ids_post' } }
}
