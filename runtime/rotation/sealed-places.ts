/** SEALED_PLACES: all stored values sealed under KEYWAY_SECRET, and what to do if they cannot be opened. */

import { boundToProbe } from '../connectors/lifecycle/probes.ts'
import { bound } from '../core/catalogue/apps/connections.ts'
import { boundTo } from '../core/webhooks/secrets.ts'

export type SealedPlace = {
  table: 'apps' | 'inline_webhooks' | 'probes'
  /** Column that identifies a row within its domain. */
  key: string
  /** Column with the sealed value. */
  column: string
  bound(domainId: string, key: string): Buffer
  /** Messages for values whose secret is missing, and for values that were altered. */
  lost: string
  altered: string
}

/** All stored values that the vault seals. */
export const SEALED_PLACES: readonly SealedPlace[] = [
  {
    table: 'apps',
    key: 'id',
    column: 'sealed_connection',
    bound: (domainId, id) => bound({ domainId, id }),
    lost: 'credentials of apps were sealed with keys (named here, with how many) that no secret of KEYWAY_SECRET makes: put those secrets back at the end of the list, or connect the apps again with PUT /apps/{id}',
    altered: 'kept credentials of apps were altered; connect them again',
  },
  {
    table: 'inline_webhooks',
    key: 'id',
    column: 'sealed',
    bound: (domainId, id) => boundTo({ domainId, id }),
    lost: 'secrets of inline webhooks were sealed with keys (named here, with how many) that no secret of KEYWAY_SECRET makes: put those secrets back at the end of the list, or give the webhooks their headers again with keyway webhooks update',
    altered: 'kept secrets of inline webhooks were altered; give them their headers again',
  },
  {
    table: 'probes',
    key: 'connector',
    column: 'sealed',
    bound: boundToProbe,
    lost: 'credentials that new versions are tried with were sealed with keys (named here, with how many) that no secret of KEYWAY_SECRET makes: put those secrets back at the end of the list, or give them again with keyway probe ID --as FILE',
    altered:
      'kept credentials that new versions are tried with were altered; give them again with keyway probe ID --as FILE',
  },
]
