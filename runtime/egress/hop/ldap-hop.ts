/** Bridge of `ctx.ldap`. */
import {
  codeNamed,
  LDAP_OPERATIONS,
  type LdapRequest,
  ldapResultOf,
} from '../../contract/connector/ldap.ts'
import { LDAP_URL } from '../../contract/connector/ldap-context.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { isObject, membersOf } from '../../contract/schema/record.ts'
import type { EgressCall } from '../call/call.ts'
import type { Bind } from '../ldap/connect.ts'
import { bindOf } from '../ldap/directory-client.ts'
import { ldapServerError, withEntry } from '../ldap/failures.ts'
import { describeRequest, judgeLdapRequest, readLdapRequest } from '../ldap/ldap-request.ts'
import { type LdapTarget, resolveLdap } from '../rules/ldap-rules.ts'
import { type Bridge, refusalCodeOf, targetsBy } from './bridge-hop.ts'

/** Reports whether a guest's request is one of `ctx.ldap`. */
export const isLdapUrl = (url: string): boolean => url === LDAP_URL

/** Returns the directories that a call may reach. @throws egress_setting */
export const targetsOf = (call: EgressCall): LdapTarget[] =>
  targetsBy(call, (entries, field) =>
    resolveLdap(entries, { level: call.level, settings: call.settings, field }),
  )

/** Returns the DN of a request's entry. */
const entryOf = (request: LdapRequest, { baseText }: Pick<LdapTarget, 'baseText'>): string =>
  request.operation === 'search' ? (request.base ?? baseText) : request.dn

export const LDAP_BRIDGE: Bridge<LdapRequest, LdapTarget, Bind | null> = {
  url: LDAP_URL,
  read: readLdapRequest,
  judge: judgeLdapRequest,
  targets: targetsOf,
  signsIn: ({ bind }) => bind?.credential ?? null,
  login: bindOf,
  writes: ({ operation }) => LDAP_OPERATIONS[operation].writes,
  tell: describeRequest,
  path: () => '',
  /** The DN is the path, as in RFC 4516. */
  addressOf(request, { origin, baseText }) {
    const path = encodeURIComponent(entryOf(request, { baseText })).replace(/%(2C|3D|2B)/g, (all) =>
      decodeURIComponent(all),
    )
    return `${origin}/${path}`
  },
  caseBody: ({ dn: _dn, base: _base, page, ...rest }) => ({
    ...rest,
    ...(isObject(page) ? { page: { ...page, ahead: undefined } } : {}),
  }),
  async perform(request, target, bind, wire, deps) {
    try {
      return await deps.ldap.perform({ request, target, bind }, wire)
    } catch (error) {
      throw withEntry(error, entryOf(request, target))
    }
  },
  found(body, from) {
    const reply = membersOf(body)
    const { result = 'success', message, entries } = reply
    if (result === 'success') return { items: Array.isArray(entries) ? entries.length : 0 }
    const code = codeNamed(String(result))
    if (code !== null) throw ldapServerError(code, typeof message === 'string' ? message : '', from)
    throw new RuntimeError(
      'upstream_garbled',
      `${from} answered ${String(result).slice(0, 60)}, which is no result of LDAP: write success, noSuchObject or another name of the LDAP page`,
    )
  },
  items: ({ operation }) => (operation === 'search' ? 'entries' : null),
  refusedBy(error) {
    const code = codeNamed(refusalCodeOf(error, 'directory_refused') ?? '')
    return code === null ? null : ldapResultOf(code)
  },
  refusal: ({ name }) => ({ result: name }),
}
