import type { Lifecycle } from '../../connectors/lifecycle/lifecycle.ts'
import type { OperateDeps } from '../../connectors/lifecycle/operating.ts'
import type { UploadedPackage } from '../../connectors/lifecycle/packages.ts'
import type {
  OPERATOR_ENDPOINTS,
  OperatorBody,
  OperatorEndpointName,
} from '../../contract/endpoints/operator.ts'
import type { Params, ParamValues } from '../../contract/endpoints/params.ts'
import type { SettingInForce } from '../../contract/endpoints/settings.ts'
import type { ConnectorListing } from '../../contract/models/connector-listing.ts'
import type { RequestContext } from '../../core/kernel/context/context.ts'
import type { Post } from '../../core/kernel/context/post.ts'
import type { KeptDays } from '../../core/retention/rules.ts'
import type { Sealer } from '../../secrets/seal.ts'

type Rows = typeof OPERATOR_ENDPOINTS

/** Parsed input of a handler. */
export type OperatorInput<N extends OperatorEndpointName> = {
  /** First id of the path; empty if there is none. */
  id: string
  params: Record<string, string>
  query: Rows[N]['query'] extends Params ? ParamValues<Rows[N]['query']> : never
  body: OperatorBody<N>
  uploaded: UploadedPackage | null
}

/** What a host gives to the operations of its operator. */
export type OperatorParts = {
  lifecycle: Lifecycle
  vault: Sealer
  /** Retention of finished rows in days, by table. */
  keptDays: KeptDays
  /** Settings of this host. */
  settings: readonly SettingInForce[]
  /** Registries of published connectors; empty if there are none. */
  registries: readonly string[]
  /** Returns all connectors with their state on this host. */
  listConnectors(): ConnectorListing[]
  /** Null if no mail is sent. */
  post: Post | null
}

export type Operating = OperateDeps &
  OperatorParts & {
    /** Data directory of the host, and whether the embedded database is in it. */
    disk: { dataDir: string; isEmbedded: boolean }
    parts: RequestContext
    signal: AbortSignal
  }

export type OperatorHandler<N extends OperatorEndpointName> = (
  op: Operating,
  input: OperatorInput<N>,
) => Promise<unknown>
