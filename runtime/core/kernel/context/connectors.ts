/**
 * Interface of the core to the connectors, as functions that main passes in: the core imports neither the
 * registry nor the lanes.
 */
import type { CapabilityName, Output } from '../../../contract/capabilities/capabilities.ts'
import type { Manifest } from '../../../contract/connector/manifest.ts'
import type { ErrorResponse } from '../../../contract/envelope/envelope-schemas.ts'
import type { RuntimeCode } from '../../../contract/errors/errors.ts'
import type { Cause } from '../../../contract/models/causes.ts'
import type { AnySchema } from '../../../contract/schema/shape.ts'

export type ServedConnector = {
  id: string
  version: string
  digest: string
  manifest: Manifest
  /** Schema of the settings, compiled once per version. */
  settings: AnySchema
}

/**
 * Outcome of a capability's call, with its id in the log. An error is the envelope's, so it holds no secret.
 */
export type ConnectorAnswer =
  | {
      ok: true
      response: unknown
      page: { token: string; size: number | null } | null
      /** The system's own response, if requested. */
      raw?: Record<string, unknown> | null
      /** Size of the reply as JSON. */
      bytes?: number
      callId?: string
    }
  | {
      ok: false
      error: ErrorResponse['error']
      /** Cause of the failure, more exact than the code of `error`. */
      reason?: RuntimeCode
      /** Pause that the system asked for, in milliseconds. */
      retryAfterMs?: number
      callId?: string
    }

type ConnectorCall = {
  connectorId: string
  capability: CapabilityName
  /** The envelope of service.md section 2.1. */
  body: Record<string, unknown>
  requestId: string
  cause: Cause
  /** Id of the app that the call is for, or null before the app exists. */
  appId: string | null
  /** Aborted when the caller no longer waits. */
  signal: AbortSignal
  /**
   * Whether to return the response, a list of rows, as a table (contract/schema/table.ts). A list names the
   * required columns. Others may be missing.
   */
  asTable?: boolean | readonly string[]
}

export type Connectors = {
  /** Returns the ids of all connectors that are served, sorted. */
  ids(): string[]
  /** Finds a connector by either spelling of its id. */
  find(id: string): ServedConnector | null
  call(call: ConnectorCall): Promise<ConnectorAnswer>
}

type Answered = Extract<ConnectorAnswer, { ok: true }>

/**
 * Returns the response. The cast is safe: replies are checked against the schema of their capability first.
 */
export const responseAs = <T>({ response }: Pick<Answered, 'response'>): T => response as T

/** Returns the response of a capability, typed. */
export const responseOf = <C extends CapabilityName>(_capability: C, answer: Answered): Output<C> =>
  responseAs(answer)
