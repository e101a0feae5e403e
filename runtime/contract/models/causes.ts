/** Causes of capability calls, one row per kind. `id` describes the identifier of the cause. */

import { keysOf } from '../schema/keys.ts'

export const CAUSES = {
  interface: { what: 'a caller of the connector interface', id: 'the request id' },
  request: { what: 'a request to the core interface or below /operator', id: 'the request id' },
  sync: { what: 'a sync of an app', id: 'the number of the run, see `keyway syncs`' },
  access_request: {
    what: 'an access request: granting, ending and removing the access',
    id: 'the id of the access request',
  },
  token_renewal: { what: 'an access token that is about to expire', id: 'the id of the app' },
  offboarding: { what: 'an offboarding', id: 'the id of the offboarding' },
  trial: {
    what: 'a version that is tried with the credentials of the probe before it receives calls',
    id: 'the connector and its version',
  },
  job: { what: 'other background work', id: 'its queue and key, see `keyway jobs`' },
} as const satisfies Record<string, { what: string; id: string }>

export type CauseKind = keyof typeof CAUSES
export const CAUSE_KINDS = keysOf(CAUSES)

/** The cause of a call. */
export type Cause = { kind: CauseKind; id: string }

/** Returns a cause as text, in the form that `keyway logs --cause` takes. */
export const causeText = ({ kind, id }: Cause): string => `${kind}:${id}`
