/** One visit to the console, with access to the operator interface by the person's rights. */

import type { UploadedPackage } from '../../connectors/lifecycle/packages.ts'
import type { ReleaseConnector } from '../../connectors/lifecycle/quarantined.ts'
import { OPERATOR_ENDPOINTS, type OperatorEndpointName } from '../../contract/endpoints/operator.ts'
import { type Params, parseParams } from '../../contract/endpoints/params.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import type { AnySchema } from '../../contract/schema/shape.ts'
import { requirePermission } from '../../core/kernel/identity/principal.ts'
import type { CoreDeps } from '../core/routes.ts'
import type { Following } from '../edge/followed-lists.ts'
import { type OperatorAnswer, operatingOf, type PerformDeps, perform } from '../operator/perform.ts'
import type { Visit } from '../pages/visit.ts'
import { filledIn } from './filled-in.ts'

export type ConsoleDeps = CoreDeps &
  PerformDeps & {
    releaseConnector: ReleaseConnector
    following: Following
  }

/** Input of an endpoint, as in a request. Its row adds the defaults. */
export type ConsoleAsk = {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: Record<string, unknown>
  uploaded?: UploadedPackage | null
}

export type ConsoleVisit = Visit & {
  deps: ConsoleDeps
  /** Calls the operator interface. @throws CoreError `forbidden`, `invalid`; and any error of the endpoint */
  ask<N extends OperatorEndpointName>(name: N, asked?: ConsoleAsk): Promise<OperatorAnswer<N>>
}

/** Adds the operator interface to a visit. */
export function consoleVisit(visit: Visit, deps: ConsoleDeps): ConsoleVisit {
  const { c, db, principal } = visit
  return {
    ...visit,
    deps,
    async ask(name, { params = {}, query = {}, body, uploaded = null } = {}) {
      requirePermission(principal, 'operator')
      const row = OPERATOR_ENDPOINTS[name]
      const about = { requestId: c.get('requestId'), signal: c.req.raw.signal }
      const op = await operatingOf(deps, db, principal, about)
      const input = { params, query: queryOf(row.query, query), body: bodyOf(row.body, body) }
      return perform(op, name, { ...input, uploaded })
    },
  }
}

function queryOf(params: Params, given: Record<string, string>) {
  const { values, entries } = parseParams(params, new URLSearchParams(given))
  if (entries.length > 0) throw new CoreError('invalid', entries)
  return values
}

/** Parses the body of an endpoint. @throws FieldFault `invalid` */
const bodyOf = (schema: AnySchema | null, given: Record<string, unknown> | undefined): unknown =>
  schema === null ? null : filledIn(schema, given ?? {}, 'invalid')
