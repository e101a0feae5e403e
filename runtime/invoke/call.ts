/** A capability's call by the host itself, as values: what the core does with connectors goes this way too. */
import type { CapabilityName } from '../contract/capabilities.ts'
import { errorBody } from '../contract/envelope.ts'
import type { ErrorResponse } from '../contract/envelope-schemas.ts'
import { RuntimeError } from '../contract/errors.ts'
import type { Invoke } from './invoke.ts'

export type Outcome =
  | {
      ok: true
      response: unknown
      page: { token: string; size: number | null } | null
      raw: Record<string, unknown> | null
    }
  | { ok: false; error: ErrorResponse['error'] }

/** Makes a function that never throws for what can go wrong with a connector or its upstream. */
export const createCall =
  (invoke: Invoke) =>
  async (call: {
    connectorId: string
    capability: CapabilityName
    /** The envelope of service.md section 2.1. */
    body: Record<string, unknown>
    requestId: string
    signal: AbortSignal
  }): Promise<Outcome> => {
    const { body, ...rest } = call
    try {
      const answer = await invoke({ ...rest, text: JSON.stringify(body) })
      const { response, page, raw_data: raw } = JSON.parse(answer.body.toString('utf8'))
      return { ok: true, response, page, raw: raw ?? null }
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error
      return { ok: false, error: errorBody(error, call.connectorId).error }
    }
  }
