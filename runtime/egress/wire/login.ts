/** Login to a server that does not speak HTTP, as an egress entry declares it. */
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'

type Entry = {
  /** Secrets that may be sent to the entry's server; null for all. */
  secrets: readonly string[] | null
  /** Path of the entry, for messages. */
  field: string
  /** Use of the credential, for messages. */
  verb: string
}

/**
 * Returns user name and password of a credential. A missing one is empty.
 *
 * @throws egress_secret if the call does not have the credential, or it may not be sent there
 */
export function loginOf(
  credential: string,
  { secrets, field, verb }: Entry,
  held: CallSecrets | null,
): { username: string; password: string } {
  const basic =
    credential === 'auth'
      ? held?.clear.auth?.basic
      : (held?.clear.credentials?.[credential]?.basic ?? undefined)
  if (!basic)
    throw new RuntimeError(
      'egress_secret',
      `${field} ${verb} by ${credential}, which the call lacks`,
    )
  if (secrets !== null && !secrets.includes(credential))
    throw new RuntimeError(
      'egress_secret',
      `${field} ${verb} by ${credential}, and its "secrets" do not let it go there`,
    )
  return { username: basic.username ?? '', password: basic.password ?? '' }
}
