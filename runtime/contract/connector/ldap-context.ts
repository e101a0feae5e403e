/**
 * `ctx.ldap` as authors see it. Types, and the words that cross the wall: the sandbox's prelude bundles this file, so
 * it holds no schemas.
 */

/** The address of every request of `ctx.ldap`: the guest names no server. */
export const LDAP_URL = 'ldap:'

/** What crosses the wall, by operation; records and cases show it. */
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

/** A filter as a structure. There is no text form, so nothing can be injected. */
export type LdapFilter =
  | { and: readonly LdapFilter[] }
  | { or: readonly LdapFilter[] }
  | { not: LdapFilter }
  | { present: string }
  | { eq: readonly [attribute: string, value: LdapValue] }
  /** At least. */
  | { ge: readonly [attribute: string, value: string] }
  /** At most. */
  | { le: readonly [attribute: string, value: string] }
  | { startsWith: readonly [attribute: string, value: string] }
  | { endsWith: readonly [attribute: string, value: string] }
  | { contains: readonly [attribute: string, value: string] }
  /** All of these bits are set (Active Directory's rule 1.2.840.113556.1.4.803). */
  | { bit: readonly [attribute: string, bits: number] }
  /** Directly or through other groups (Active Directory's rule 1.2.840.113556.1.4.1941). */
  | { inChain: readonly [attribute: string, dn: string] }

/** What to search. */
export type LdapSearch = {
  /** Where to begin: within the manifest's `base`, which is the default. */
  base?: string
  /** The entry alone, what is directly below it, or all of it (`sub`, the default). */
  scope?: 'base' | 'one' | 'sub'
  /** Default: every entry. */
  filter?: LdapFilter
  /** Names of attributes; `*` all of the users', `+` the server's own. */
  attributes?: readonly string[]
  /** Further attributes whose values are bytes. */
  binary?: readonly string[]
  /**
   * Entries at once (1 to 1000, 100 by default), and the cursor of the page before. `ahead`: how many the next page will be
   * asked for, if that is sure to come: the directory gets it ready meanwhile.
   */
  page?: {
    size?: number | null | undefined
    cursor?: string | null | undefined
    ahead?: number | null | undefined
  }
}

/** One entry. `binary` names the attributes whose values are base64. */
export type LdapEntry = { dn: string; attributes: Record<string, string[]>; binary: string[] }

/** What a search gives: entries, where it goes on (null at the end), servers that it named and nobody asked. */
export type LdapPage = { entries: LdapEntry[]; cursor: string | null; referrals: string[] }

/** A change of one entry; attributes without values are replaced by none, or deleted whole. */
export type LdapChange =
  | { add: Record<string, LdapValue[]> }
  | { replace: Record<string, LdapValue[]> }
  | { delete: Record<string, LdapValue[]> }

/** A directory, by the manifest's entries with `ldap`. The host binds: no password comes here. */
export type Ldap = {
  /** One page of entries. */
  search(options?: LdapSearch): Promise<LdapPage>
  /** Changes an entry: all of the changes, or none. */
  modify(dn: string, changes: LdapChange[]): Promise<void>
  /** Adds an entry. */
  add(dn: string, attributes: Record<string, LdapValue[]>): Promise<void>
  /** Deletes an entry that has none below it. */
  delete(dn: string): Promise<void>
  /** Renames an entry, or moves it. */
  move(dn: string, to: string): Promise<void>
  /** Sets a password, such as a secret field of the request. */
  password(dn: string, value: string): Promise<void>
  /** A DN of pairs, whose values are escaped, and of DNs: `dn(['uid', name], 'ou=people,dc=acme')`. */
  dn(...parts: (string | readonly [type: string, value: string])[]): string
}
