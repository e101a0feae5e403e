/**
 * `ctx.ldap`: each request crosses as a fetch of `ldap:` with a JSON body. The host validates all of it
 * again. The work done here only helps authors.
 */
import {
  LDAP_METHODS,
  LDAP_URL,
  type Ldap,
  type LdapPage,
} from '../../contract/connector/ldap-context.ts'
import type { GuestCall } from './calls.ts'
import { requestFor } from './fetch.ts'
import { isArray, jsonText } from './primordials.ts'

/** Makes `ctx.ldap` of one call. */
export function makeLdap(call: GuestCall): Ldap {
  const ask = async (operation: keyof typeof LDAP_METHODS, body: object): Promise<unknown> =>
    (await requestFor(call, LDAP_URL, LDAP_METHODS[operation], jsonText(body))).json()
  const done = async (operation: keyof typeof LDAP_METHODS, body: object): Promise<void> => {
    await ask(operation, body)
  }
  return {
    search: async (options = {}) => {
      // The cast: the host makes the answer.
      const { entries, cursor, referrals } = (await ask('search', options)) as LdapPage
      return { entries: entries ?? [], cursor: cursor ?? null, referrals: referrals ?? [] }
    },
    modify: (dn, changes) => done('modify', { dn, changes }),
    add: (dn, attributes) => done('add', { dn, attributes }),
    delete: (dn) => done('delete', { dn }),
    move: (dn, to) => done('modifyDN', { dn, to }),
    password: (dn, value) => done('password', { dn, value }),
    dn: (...parts) => {
      let text = ''
      for (let i = 0; i < parts.length; i += 1) {
        const part = parts[i]
        const piece = isArray(part) ? `${part[0]}=${escapeValue(`${part[1]}`)}` : `${part}`
        text += i === 0 ? piece : `,${piece}`
      }
      return text
    },
  }
}

/** Characters with a meaning in a DN (RFC 4514). */
const SPECIAL = '"#+,;<=>\\'

function escapeValue(value: string): string {
  let text = ''
  for (let i = 0; i < value.length; i += 1) {
    const code = value.charCodeAt(i)
    const isEdge = i === 0 || i === value.length - 1
    const escaped =
      code < 32 || code === 127 || SPECIAL.includes(value.charAt(i)) || (code === 32 && isEdge)
    text += escaped ? `\\${code < 16 ? '0' : ''}${code.toString(16).toUpperCase()}` : value[i]
  }
  return text
}
