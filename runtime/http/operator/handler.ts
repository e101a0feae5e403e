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

/** What a handler gets, parsed. */
export type OperatorInput<N extends OperatorEndpointName> = {
  /** The first id of the path; empty where it has none. */
  id: string
  params: Record<string, string>
  query: Rows[N]['query'] extends Params ? ParamValues<Rows[N]['query']> : never
  body: OperatorBody<N>
  uploaded: UploadedPackage | null
}

export type Operating = OperateDeps & {
  lifecycle: Lifecycle
  vault: Sealer
  /** Where the host keeps its files, and whether the database is among them. */
  disk: { dataDir: string; isEmbedded: boolean }
  keptDays: KeptDays
  settings: readonly SettingInForce[]
  /** Where published connectors are found; empty: nowhere. */
  registries: readonly string[]
  /** All connectors, with how they stand on this host. */
  listConnectors(): ConnectorListing[]
  /** Null where no mail is sent. */
  post: Post | null
  parts: RequestContext
  signal: AbortSignal
}

export type OperatorHandler<N extends OperatorEndpointName> = (
  op: Operating,
  input: OperatorInput<N>,
) => Promise<unknown>
