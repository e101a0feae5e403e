/**
 * `ctx.ldap` as authors see it: types, and the names used in requests between sandbox and host. The sandbox's
 * prelude bundles this file, so it has no schemas.
 */

/** URL of every request of `ctx.ldap`. The guest names no server. */
export const LDAP_URL = 'ldap:'

/** Methods of the requests, by operation. Records and cases show them. */
export const LDAP_METHODS = {
  search: 'SEARCH',
  modify: 'MODIFY',
  add: 'ADD',
  delete: 'DELETE',
  modifyDN: 'MOVE',
  password: 'PASSWORD',
} as const

/** Text, or bytes as base64. */
export type LdapValue = string | { base64: string }

/** A search filter. It has no text form, so nothing can be injected. */
export type LdapFilter =
  | { and: readonly LdapFilter[] }
  | { or: readonly LdapFilter[] }
  | { not: LdapFilter }
  | { present: string }
  | { eq: readonly [attribute: string, value: LdapValue] }
  /** Greater than or equal. */
  | { ge: readonly [attribute: string, value: string] }
  /** Less than or equal. */
  | { le: readonly [attribute: string, value: string] }
  | { startsWith: readonly [attribute: string, value: string] }
  | { endsWith: readonly [attribute: string, value: string] }
  | { contains: readonly [attribute: string, value: string] }
  /** All of these bits are set (Active Directory's rule 1.2.840.113556.1.4.803). */
  | { bit: readonly [attribute: string, bits: number] }
  /** Directly or through other groups (Active Directory's rule 1.2.840.113556.1.4.1941). */
  | { inChain: readonly [attribute: string, dn: string] }

/** Parameters of a search. */
export type LdapSearch = {
  /** Entry to start at, within the manifest's `base`, which is the default. */
  base?: string
  /** The entry alone, its direct children, or the whole subtree (`sub`, the default). */
  scope?: 'base' | 'one' | 'sub'
  /** Default: all entries. */
  filter?: LdapFilter
  /** Names of attributes; `*` for all user attributes, `+` for the server's operational ones. */
  attributes?: readonly string[]
  /** Additional attributes with binary values. */
  binary?: readonly string[]
  /**
   * Entries per page (1 to 1000, 100 by default), and the cursor of the previous page. `ahead`: size of the
   * next page, if it is certain to be requested. The directory then prepares it in advance.
   */
  page?: {
    size?: number | null | undefined
    cursor?: string | null | undefined
    ahead?: number | null | undefined
  }
}

/** One entry. `binary` names the attributes whose values are base64. */
export type LdapEntry = { dn: string; attributes: Record<string, string[]>; binary: string[] }

/**
 * Result of a search: entries, the cursor of the next page (null at the end), and servers that the directory
 * referred to, which are not contacted.
 */
export type LdapPage = { entries: LdapEntry[]; cursor: string | null; referrals: string[] }

/** A change of one entry. An attribute without values is replaced by nothing, or deleted entirely. */
export type LdapChange =
  | { add: Record<string, LdapValue[]> }
  | { replace: Record<string, LdapValue[]> }
  | { delete: Record<string, LdapValue[]> }

/**
 * A directory, as declared by the manifest's entries with `ldap`. The host binds, so no password is passed
 * here.
 */
export type Ldap = {
  /** Reads one page of entries. */
  search(options?: LdapSearch): Promise<LdapPage>
  /** Changes an entry. Either all changes are made or none. */
  modify(dn: string, changes: LdapChange[]): Promise<void>
  /** Adds an entry. */
  add(dn: string, attributes: Record<string, LdapValue[]>): Promise<void>
  /** Deletes an entry that has no children. */
  delete(dn: string): Promise<void>
  /** Renames or moves an entry. */
  move(dn: string, to: string): Promise<void>
  /** Sets a password. The value may be a secret field of the request. */
  password(dn: string, value: string): Promise<void>
  /**
   * Builds a DN from pairs, whose values are escaped, and from DNs: `dn(['uid', name], 'ou=people,dc=acme')`.
   */
  dn(...parts: (string | readonly [type: string, value: string])[]): string
}
