/** CAUSES: for what a capability is called. One row per kind; `id` says what the cause is named by. */

import { keysOf } from '../schema/keys.ts'

export const CAUSES = {
  interface: { what: 'a caller of the connector interface', id: 'the request id' },
  request: { what: 'a request to the core interface or below /operator', id: 'the request id' },
  sync: { what: 'a sync of an app', id: 'the number of the run, see `keyway syncs`' },
  access_request: {
    what: 'an access request: what it gives, what ends it, and what takes it back',
    id: 'the id of the access request',
  },
  token_renewal: { what: 'an access token that is about to end', id: 'the id of the app' },
  offboarding: { what: 'an offboarding', id: 'the id of the offboarding' },
  trial: {
    what: 'a version that is tried with the credentials of the probe before calls go to it',
    id: 'the connector and its version',
  },
  job: { what: 'other background work', id: 'its queue and key, see `keyway jobs`' },
} as const satisfies Record<string, { what: string; id: string }>

export type CauseKind = keyof typeof CAUSES
export const CAUSE_KINDS = keysOf(CAUSES)

/** Why a call was made. */
export type Cause = { kind: CauseKind; id: string }

/** As one text, which `keyway logs --cause` takes. */
export const causeText = ({ kind, id }: Cause): string => `${kind}:${id}`
