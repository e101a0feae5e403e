/** One capability as one OpenAPI operation; the same for the whole interface and for one connector. */
import * as v from 'valibot'
import {
  CAPABILITIES,
  CAPABILITY_NAMES,
  type CapabilityName,
} from '../../contract/capabilities/capabilities.ts'
import type { CapabilityRow } from '../../contract/capabilities/row.ts'
import {
  type EnvelopeParts,
  ErrorResponse,
  requestEnvelope,
  successEnvelope,
} from '../../contract/envelope/envelope-schemas.ts'
import type { AnySchema } from '../../contract/schema/shape.ts'
import { schemaEntries } from '../../contract/schema/shape.ts'
import type { Components } from '../schemas/json-schema.ts'
import type { JsonSchema } from '../schemas/tidy.ts'
import type { Operation, Parameter, PathItem, PathMethod } from './document.ts'
import { AppInfo, Info } from './info-schema.ts'
import { CONNECTOR_SECURITY, capabilityAnswer, failures } from './responses.ts'
import { sampleOf } from './sample.ts'

/** The groups of service.md section 4.1, and those of operations that belong to no connector. */
export const TAGS = {
  Learning: {
    name: 'Learning about connectors',
    description: 'Which connectors there are, what each can do and needs',
  },
  Specification: {
    name: 'Open API Specification',
    description: 'A connector’s own machine-readable description',
  },
  Read: { name: 'Read Capabilities', description: 'Read data of the connected tenant' },
  OAuth: { name: 'OAuth Capabilities', description: 'Obtain and renew tokens' },
  Write: { name: 'Write Capabilities', description: 'Change data of the connected tenant' },
  Operating: { name: 'Operating', description: 'Health, metrics, documents, lifecycle' },
} as const

/** Parts of one operation of the connector interface. */
export type OperationParts = {
  name: string
  tag: keyof typeof TAGS
  level: 'read' | 'write'
  summary: string
  description?: string
  request: AnySchema
  response: AnySchema
  plain: boolean
  /** The request body is optional. */
  bodyless?: true
}

/** Parts of the envelope in addition to `request`: for any connector, or for one. */
export type Surroundings = {
  parameters: Parameter[]
  envelope: Pick<EnvelopeParts, 'settings' | 'credentials'>
  /** Members of the example next to `request`. */
  example: JsonSchema
}

const row = (name: CapabilityName): CapabilityRow => CAPABILITIES[name]

/** Returns the response schema for any connector. Connectors may add fields if the contract allows it. */
function anyResponse(name: CapabilityName): AnySchema {
  const { output, extensible } = row(name)
  return extensible ? v.looseObject(schemaEntries(output)) : output
}

/** Returns the parts of a capability, with the schemas of its payloads. */
export function capabilityParts(
  name: CapabilityName,
  request: AnySchema = row(name).input,
  response: AnySchema = anyResponse(name),
): OperationParts {
  const { group, level, summary, plain = false } = row(name)
  return { name, tag: group, level, summary, request, response, plain }
}

/** Parts of `info` and `app_info`, which every connector has. */
export const AUTOMATIC: { info: OperationParts; app_info: OperationParts } = {
  info: {
    name: 'info',
    tag: 'Learning',
    level: 'read',
    summary: 'Learn what a connector is, can do and needs',
    description: 'Needs neither credentials nor settings; the body is ignored.',
    request: v.object({}),
    response: Info,
    plain: true,
    bodyless: true,
  },
  app_info: {
    name: 'app_info',
    tag: 'Specification',
    level: 'read',
    summary: 'Read the connector’s own OpenAPI document',
    description: 'Needs neither credentials nor settings.',
    request: v.object({}),
    response: AppInfo,
    plain: true,
  },
}

/** Capabilities in the order of their groups. */
export const ORDERED_NAMES: readonly CapabilityName[] = Object.keys(TAGS).flatMap((group) =>
  CAPABILITY_NAMES.filter((name) => CAPABILITIES[name].group === group),
)

/** Creates the operation `POST .../<capability>`. */
export function postOperation(
  parts: OperationParts,
  { parameters, envelope, example }: Surroundings,
  components: Components,
): Operation {
  const { name, request, plain, bodyless } = parts
  const { settings, credentials } = envelope
  const body = requestEnvelope({
    title: `${pascal(name)}Request`,
    request,
    ...(settings ? { settings } : {}),
    ...(plain ? {} : { credentials: credentials ?? {} }),
  })
  const { auth, credentials: several, ...rest } = example
  const beside = plain ? rest : example
  const schema = components.schema(body, 'input')
  return {
    ...head(parts),
    ...(parameters.length > 0 ? { parameters } : {}),
    requestBody: {
      required: !bodyless,
      content: {
        'application/json': { schema, example: { ...beside, request: sampleOf(request) } },
      },
    },
    responses: {
      200: capabilityAnswer(answerSchema(parts, components)),
      ...failures(400, 401, 405, 413, 415, 421),
    },
    security: CONNECTOR_SECURITY,
  }
}

/** Creates `POST` and `GET .../info`. */
export function infoPath({ parameters }: Surroundings, post: Operation): PathItem {
  const { requestBody, responses, ...rest } = post
  const get: Operation = {
    ...rest,
    operationId: 'info_get',
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: {
      ...('200' in responses ? { 200: responses['200'] } : {}),
      ...failures(400, 401, 421),
    },
  }
  return { get, post } satisfies { [M in PathMethod]?: Operation }
}

function head(parts: OperationParts): Omit<Operation, 'responses'> {
  return {
    operationId: parts.name,
    tags: [TAGS[parts.tag].name],
    summary: parts.summary,
    ...(parts.description === undefined ? {} : { description: parts.description }),
    'x-capability-level': parts.level,
    ...(parts.tag === 'OAuth' ? { 'x-capability-category': 'authorization' } : {}),
  }
}

function answerSchema({ name, response }: OperationParts, components: Components): JsonSchema {
  const success = successEnvelope(`${pascal(name)}Response`, response)
  return {
    anyOf: [components.schema(success, 'output'), components.schema(ErrorResponse, 'output')],
  }
}

/** `list_accounts` -> `ListAccounts`. */
function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
