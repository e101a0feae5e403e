/** What a system was read to show, as evidence has it. */

export type Reading = {
  /** ISO 8601, UTC. */
  at: string
  /** What read it, and the id of its last call, by which `keyway logs` finds it. */
  capability: string
  call_id: string | null
  /** SHA-256 of the package of the connector that was called. */
  connector_digest: string | null
  /** Whether the system still showed it: the entitlement, or an account that gives access. */
  shown: boolean
}
