/** A read of the connected system, as recorded in evidence. */

export type Reading = {
  /** ISO 8601, UTC. */
  at: string
  /** The capability that read, and the id of its last call, under which `keyway logs` finds it. */
  capability: string
  call_id: string | null
  /** SHA-256 digest of the called connector's package. */
  connector_digest: string | null
  /** Whether the system still had the entitlement, or an account that gives access. */
  shown: boolean
}
