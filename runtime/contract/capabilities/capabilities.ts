/**
 * Every operation that a connector may implement. Types for authors, validation of requests and responses,
 * OpenAPI, documentation and conformance tests are derived from this table.
 *
 * Source: service.md section 4.1; connector-interface.md sections 1.2 to 1.6. Standard names whose shapes are
 * not public (connected_info, list_updated_accounts, get_data_recency, validate_credential_config and the
 * graph capabilities) return `not_implemented`.
 */
import type * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { LEARNING } from './learning.ts'
import { OAUTH } from './oauth.ts'
import { READ } from './read.ts'
import { WRITE } from './write.ts'

export const CAPABILITIES = { ...LEARNING, ...READ, ...OAUTH, ...WRITE } as const

/** The name of a capability, such as `list_accounts`. */
export type CapabilityName = keyof typeof CAPABILITIES
export const CAPABILITY_NAMES = keysOf(CAPABILITIES)

/** Request as a handler receives it: defaults applied, nulls removed. */
export type Input<N extends CapabilityName> = v.InferOutput<(typeof CAPABILITIES)[N]['input']>
/** Response as a handler returns it. Optional members may be left out. */
export type Output<N extends CapabilityName> = v.InferInput<(typeof CAPABILITIES)[N]['output']>

/** Reports whether the envelope of a capability has no credentials. Its replies contain secrets by design. */
export const hasNoCredentials = (name: CapabilityName): boolean => 'plain' in CAPABILITIES[name]

/** Reports whether a name is a capability of this table. */
export const isCapability = (name: string): name is CapabilityName =>
  Object.hasOwn(CAPABILITIES, name)
