/** Performs one operation of the operator, by the row of its endpoint. */

import * as v from 'valibot'
import type { UploadedPackage } from '../../connectors/lifecycle/packages.ts'
import { PackageError } from '../../connectors/packages/format.ts'
import { OPERATOR_ENDPOINTS, type OperatorEndpointName } from '../../contract/endpoints/operator.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Doer } from '../../core/kernel/audit/activity.ts'
import type { CoreContext } from '../../core/kernel/context/context.ts'
import { emailOfDoer } from '../../core/sign-in/operator.ts'
import type { Db } from '../../database/database.ts'
import type { Operating, OperatorInput, OperatorParts } from './handler.ts'
import { OPERATOR_HANDLERS } from './handlers.ts'

export type PerformDeps = OperatorParts & {
  parts: CoreContext
  /** Data directory, in which uploads are stored until they are read. */
  dataDir: string
  /** Whether the database is the embedded one. */
  isEmbedded: boolean
}

/** Answer of an endpoint. */
export type OperatorAnswer<N extends OperatorEndpointName> = v.InferOutput<
  (typeof OPERATOR_ENDPOINTS)[N]['output']
>

/** Creates the context of the operator's operations for one request. */
export async function operatingOf(
  deps: PerformDeps,
  db: Db,
  actor: Doer,
  { requestId, signal }: { requestId: string; signal: AbortSignal },
): Promise<Operating> {
  const { lifecycle, vault, keptDays, settings, registries, post, listConnectors } = deps
  const { parts, dataDir, isEmbedded } = deps
  return {
    ...lifecycle.operate(db, actor, await emailOfDoer(db, actor)),
    ...{ lifecycle, vault, keptDays, settings, registries, post, listConnectors },
    disk: { dataDir, isEmbedded },
    parts: { ...parts, requestId, cause: { kind: 'request', id: requestId }, signal },
    signal,
  }
}

/** Input parsed by the row of an endpoint. */
type ParsedInput = {
  params: Record<string, string>
  query: object
  body: unknown
  uploaded: UploadedPackage | null
}

/** Performs an operation. The row of its endpoint parses the input and the answer. */
export async function perform<N extends OperatorEndpointName>(
  op: Operating,
  name: N,
  input: ParsedInput,
): Promise<OperatorAnswer<N>> {
  const handler = OPERATOR_HANDLERS[name]
  const { path, output } = OPERATOR_ENDPOINTS[name]
  const [, first = ''] = /:(\w+)/.exec(path) ?? []
  const id = input.params[first] ?? ''
  // The cast: the input was parsed by the row of the same name.
  const answer = await handler(op, { id, ...input } as OperatorInput<N>).catch(
    (thrown: unknown) => {
      if (!(thrown instanceof PackageError)) throw thrown
      throw new RuntimeError('input_invalid', thrown.message, {}, thrown)
    },
  )
  // The cast: the compiler does not see that the row and the output have the same name.
  return v.parse(output, answer) as OperatorAnswer<N>
}
