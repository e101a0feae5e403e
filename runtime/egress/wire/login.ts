/** Who logs in to a server that speaks no HTTP, by an entry's declaration. */
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'

type Entry = {
  /** Which secrets the entry lets go there; null for all. */
  secrets: readonly string[] | null
  /** Where it stands, for messages. */
  field: string
  /** What it does with the credential, for messages. */
  verb: string
}

/**
 * User name and password of a credential; empty where one is not given.
 *
 * @throws egress_secret where the call does not have the credential, or it may not go there
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
