/**
 * The host's way to directories: opens connections, keeps them, and carries judged requests out. Its answers are
 * replies with a JSON body, like those of any upstream, so that what stands for the network in the test kit can give
 * them too.
 */
import { escapeDnValue } from '../../contract/connector/dn.ts'
import { LDAP_LIMITS, type LdapRequest, resultOf } from '../../contract/connector/ldap.ts'
import { normalizeId } from '../../contract/connector/manifest.ts'
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { createDialer } from '../dial/dial.ts'
import type { Resolve } from '../dial/lookups.ts'
import type { PrivateGrants } from '../limits/grants.ts'
import type { EgressLimits } from '../limits/limits.ts'
import type { LdapTarget } from '../rules/ldap-rules.ts'
import { abortedError, type Bind, connect, hostAndPort } from './connect.ts'
import { parkedIdOf, perform } from './perform.ts'
import { createPool, type Lease } from './pool.ts'
import { failureOf } from './results.ts'

export type LdapMeans = {
  connectorId: string
  /** Whose call it is; without it the connection is kept for nobody. */
  tenant: string | undefined
  bind: Bind | null
  signal: AbortSignal
  endMs: number
  onSend(): void
  onBytes(bytes: number): void
  read(bytes: number): number
}

export type LdapRoom = {
  /**
   * Carries a judged request out, and once more on a new connection where a kept one of a search had gone.
   *
   * @returns the body of the reply: `{ result: 'success', ... }`
   * @throws egress_private, egress_concurrency, directory_refused, upstream_*
   */
  perform(request: LdapRequest, target: LdapTarget, means: LdapMeans): Promise<object>
  /** Open connections of the process. */
  connections(): number
  close(): void
}

export function createLdapRoom(options: {
  privateGrants: PrivateGrants
  plainGrants: PrivateGrants
  limits: EgressLimits
  resolve?: Resolve
}): LdapRoom {
  const { privateGrants, plainGrants, limits, resolve } = options
  const pool = createPool()

  function open(target: LdapTarget, means: LdapMeans) {
    const id = normalizeId(means.connectorId)
    const dial = createDialer({
      connectorId: means.connectorId,
      isGranted: (at) => privateGrants.get(id)?.has(at) ?? false,
      connectTimeoutMs: limits.connectTimeoutMs,
      ...(resolve === undefined ? {} : { resolve }),
    })
    const mayBePlain = (at: string) => plainGrants.get(id)?.has(at) ?? false
    const timeoutMs = limits.connectTimeoutMs
    return connect(target, means.bind, { dial, mayBePlain, timeoutMs }, means.signal)
  }

  async function attempt(request: LdapRequest, target: LdapTarget, means: LdapMeans, lease: Lease) {
    const { signal, endMs } = means
    const { guard } = lease.connection
    const from = hostAndPort(target)
    const onAbort = () => guard.end(abortedError(signal, from))
    signal.addEventListener('abort', onAbort, { once: true })
    const size = request.operation === 'search' ? (request.page.size ?? LDAP_LIMITS.defaultPage) : 0
    const done = guard.allow({
      onBytes: means.onBytes,
      read: means.read,
      maxEntries: size + LDAP_LIMITS.maxRanges,
    })
    try {
      if (signal.aborted) throw abortedError(signal, from)
      means.onSend()
      const found = await perform({ request, target }, lease, Math.min(endMs - Date.now(), 60_000))
      done()
      lease.release()
      return { result: 'success', ...found }
    } catch (error) {
      done()
      const failure = failureOf(error, guard, from)
      // After a result code the connection is as good as before; after anything else nobody knows.
      if (failure.code === 'directory_refused') lease.release()
      else lease.drop()
      throw failure
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  return {
    async perform(request, target, means) {
      const key = keyOf(target, means)
      const lease = () => pool.lease(key, () => open(target, means), parkedIdOf(request))
      const first = await lease()
      try {
        return await attempt(request, target, means, first)
      } catch (error) {
        const isGone = error instanceof RuntimeError && error.code === 'upstream_closed'
        if (!isGone || !first.isUsed || request.operation !== 'search' || means.signal.aborted)
          throw error
        // A kept connection that the server had closed: nothing was found, and asking again changes nothing.
        return attempt(request, target, means, await lease())
      }
    },
    connections: () => pool.size(),
    close: () => pool.close(),
  }
}

/** Whose connection it is. The tenant is a digest of settings and credentials, passwords included. */
const keyOf = (target: LdapTarget, { connectorId, tenant, bind }: LdapMeans): string | null =>
  tenant === undefined
    ? null
    : JSON.stringify([normalizeId(connectorId), tenant, target.origin, bind?.dn ?? null])

/**
 * Who binds, by the entry's declaration.
 *
 * @throws egress_secret where the call does not have the credential, or it may not go there
 */
export function bindOf(
  { bind, secrets, field }: LdapTarget,
  held: CallSecrets | null,
): Bind | null {
  if (bind === null) return null
  const { credential, dn } = bind
  const basic =
    credential === 'auth'
      ? held?.clear.auth?.basic
      : (held?.clear.credentials?.[credential]?.basic ?? undefined)
  if (!basic)
    throw new RuntimeError('egress_secret', `${field} binds by ${credential}, which the call lacks`)
  if (secrets !== null && !secrets.includes(credential))
    throw new RuntimeError(
      'egress_secret',
      `${field} binds by ${credential}, and its "secrets" do not let it go there`,
    )
  const user = basic.username ?? ''
  // A bind without a password succeeds as anonymous: RFC 4513 section 5.1.2.
  if (!basic.password || user === '')
    throw new RuntimeError('directory_refused', 'The user name or the password is empty', {
      wire: 'unauthenticated',
      appErrorCode: resultOf(49).name,
    })
  const name = dn === null ? user : dn.replaceAll('{username}', () => escapeDnValue(user))
  return { dn: name, password: basic.password }
}
