/** Converts filters of connectors to the library's, as structures and never as text. */
import {
  AndFilter,
  EqualityFilter,
  ExtensibleFilter,
  type Filter,
  GreaterThanEqualsFilter,
  LessThanEqualsFilter,
  NotFilter,
  OrFilter,
  PresenceFilter,
  SubstringFilter,
} from 'ldapts'
import type { LdapFilter, LdapValue } from '../../contract/connector/ldap-context.ts'

/** Matching rules of Active Directory: all bits set, and membership through nested groups. */
const BIT_AND = '1.2.840.113556.1.4.803'
const IN_CHAIN = '1.2.840.113556.1.4.1941'

/**
 * Returns the library's form of a filter that `filterFault` (contract/connector/ldap.ts) has accepted, so its
 * depth is bounded.
 */
export function toFilter(filter: LdapFilter): Filter {
  if ('and' in filter) return new AndFilter({ filters: filter.and.map(toFilter) })
  if ('or' in filter) return new OrFilter({ filters: filter.or.map(toFilter) })
  if ('not' in filter) return new NotFilter({ filter: toFilter(filter.not) })
  if ('present' in filter) return new PresenceFilter({ attribute: filter.present })
  if ('eq' in filter) {
    const [attribute, value] = filter.eq
    return new EqualityFilter({ attribute, value: bytesOrText(value) })
  }
  if ('ge' in filter) return new GreaterThanEqualsFilter(pair(filter.ge))
  if ('le' in filter) return new LessThanEqualsFilter(pair(filter.le))
  if ('startsWith' in filter) {
    const { attribute, value } = pair(filter.startsWith)
    return new SubstringFilter({ attribute, initial: value })
  }
  if ('endsWith' in filter) {
    const { attribute, value } = pair(filter.endsWith)
    return new SubstringFilter({ attribute, final: value })
  }
  if ('contains' in filter) {
    const { attribute, value } = pair(filter.contains)
    return new SubstringFilter({ attribute, any: [value] })
  }
  const [matchType, value, rule] =
    'bit' in filter
      ? [filter.bit[0], String(filter.bit[1]), BIT_AND]
      : [filter.inChain[0], filter.inChain[1], IN_CHAIN]
  return new ExtensibleFilter({ matchType, value, rule })
}

const pair = ([attribute, value]: readonly [string, string]) => ({ attribute, value })

/** Returns a value as it is sent. */
export const bytesOrText = (value: LdapValue): Buffer | string =>
  typeof value === 'string' ? value : Buffer.from(value.base64, 'base64')
