/** OpenLDAP, and Samba as a domain controller: one server per test file, trusted by this process only. */
import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { CallSecrets } from '../../../runtime/contract/connector/secrets.ts'
import type { EgressCall } from '../../../runtime/egress/call/call.ts'
import type { EgressOptions } from '../../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../../runtime/egress/limits/grants.ts'
import { installSystem, missing, type OpenLdap } from '../../real-systems/start.ts'
import { openEgress } from '../fixtures/open-egress.ts'

const absent = missing('apt-get', 'openssl')
const installed =
  absent === null ? await installSystem<OpenLdap['auth']>('openldap') : { why: absent }

/** Why OpenLDAP is not available here; null if it is. */
export const noDirectory: string | null = 'why' in installed ? installed.why : null

export type Directory = OpenLdap & { stop(): Promise<void> }

/** Starts the server; its certificates are trusted from then on. */
export async function startDirectory(env: Record<string, string> = {}): Promise<Directory> {
  if ('why' in installed) throw new Error(installed.why)
  return trusted(await installed.system.start(env))
}

/** Starts one more server, in a folder of its own. */
export async function startAnother(env: Record<string, string>): Promise<Directory> {
  const other = await installSystem<OpenLdap['auth']>('openldap')
  if ('why' in other) throw new Error(other.why)
  return trusted(await other.system.start(env))
}

/**
 * Starts a domain controller (`samba-ad`) or 389 Directory Server (`389-ds`), or returns why it is not
 * available.
 */
export async function startDomain(
  script: 'samba-ad' | '389-ds',
): Promise<{ domain: Directory } | { why: string }> {
  const lacking = missing('apt-get', 'openssl', 'unshare')
  const found = lacking === null ? await installSystem<OpenLdap['auth']>(script) : { why: lacking }
  return 'why' in found ? found : { domain: trusted(await found.system.start()) }
}

function trusted(system: object): Directory {
  // The scripts report these values.
  const started = system as Directory
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(started.ca, 'utf8')])
  return started
}

/** Secrets of a call with one basic credential, as sealed by the runtime. */
export const basicSecrets = (username: string, password: string): CallSecrets =>
  ({
    marks: { head: 'kwhead', tail: 'kwtail' },
    call: 'c',
    secrets: [],
    clear: {
      auth: { basic: { username, password } },
      credentials: null,
      settings: {},
      request: {},
    },
    sealed: { auth: null, credentials: null, settings: {}, request: {} },
    tenant: username,
    conceals: false,
  }) as unknown as CallSecrets

/** An egress, opened for one call to a directory. */
export function egressTo(
  { url, baseDn, auth }: Pick<OpenLdap, 'url' | 'baseDn' | 'auth'>,
  {
    entry = {},
    plain = true,
    user = auth,
    call = {},
    ...options
  }: {
    entry?: object
    plain?: boolean
    user?: { bindDn: string; password: string }
    call?: Partial<EgressCall>
  } & Partial<EgressOptions> = {},
) {
  const { host } = new URL(url)
  return openEgress({
    egress: [{ ldap: url, base: baseDn, bind: { credential: 'auth' }, ...entry }],
    grants: `acme=${host}`,
    plainLdap: parsePrivateGrants(plain ? `acme=${host}` : ''),
    call: { secrets: basicSecrets(user.bindDn, user.password), tenant: user.bindDn, ...call },
    ...options,
  })
}

/** One request of `ctx.ldap`, as it reaches the egress. */
export const ldap = (method: string, body: object, signal?: AbortSignal) => ({
  url: 'ldap:',
  method,
  headers: [],
  body: Buffer.from(JSON.stringify(body)),
  redirect: 'error' as const,
  ...(signal ? { signal } : {}),
})
