/**
 * What the core needs of the connectors, as functions that main hands in: it imports neither the registry
 * nor the lanes.
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
  /** What settings must be: compiled once for a version. */
  settings: AnySchema
}

/** How a capability's call ended, and its id in the log: an error is the envelope's, so it holds no secret. */
export type ConnectorAnswer =
  | {
      ok: true
      response: unknown
      page: { token: string; size: number | null } | null
      /** What the system itself said, where that was asked for. */
      raw?: Record<string, unknown> | null
      /** Of the reply, as JSON. */
      bytes?: number
      callId?: string
    }
  | {
      ok: false
      error: ErrorResponse['error']
      /** Why it failed, more exactly than the code of `error`. */
      reason?: RuntimeCode
      /** How long the system asked to be left alone, in milliseconds. */
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
  /** The app that it is for; null while there is none yet. */
  appId: string | null
  /** Aborted when nobody waits for it any more. */
  signal: AbortSignal
  /**
   * Whether the response, a list of rows, is answered as a table (contract/schema/table.ts). A list names the columns that
   * are needed; others may be missing.
   */
  asTable?: boolean | readonly string[]
}

export type Connectors = {
  /** Ids of everything that is served, sorted. */
  ids(): string[]
  /** In either spelling of the id. */
  find(id: string): ServedConnector | null
  call(call: ConnectorCall): Promise<ConnectorAnswer>
}

type Answered = Extract<ConnectorAnswer, { ok: true }>

/** What was answered. The cast: replies are checked by the schema of their capability before they come here. */
export const responseAs = <T>({ response }: Pick<Answered, 'response'>): T => response as T

/** What a capability answered. */
export const responseOf = <C extends CapabilityName>(_capability: C, answer: Answered): Output<C> =>
  responseAs(answer)
