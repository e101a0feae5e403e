/**
 * The last known state of this host's operator token. The database decides; this copy is used while it is
 * unavailable, so that a valid token keeps working and an ended one stays ended.
 */
import type { Db } from '../../database/database.ts'
import type { TokenHasher } from '../kernel/identity/token-hasher.ts'
import { type TokenStanding, tokenStanding } from './operator-token.ts'

export type OperatorStanding = {
  readonly token: string
  /** Returns the last known state, or null until the database was first reached. */
  last(): TokenStanding | null
  /** Stores a state that was read from the database. */
  heard(standing: TokenStanding): void
  /** Reads the state from the database. */
  look(db: Db): Promise<void>
}

const WHAT_TO_DO =
  'set KEYWAY_ADMIN_TOKEN on every host to the valid token; or to a new one, which replaces it'

/** Log messages for operators. */
const MESSAGES: Record<Exclude<TokenStanding, 'good'>, string> = {
  ended: `the operator’s token of this host is no longer valid, because it was revoked or replaced: ${WHAT_TO_DO} (if it was generated, remove the file admin-token to generate a new one)`,
  another: `the operator’s token of this host is not valid, because this database has the token of another host: ${WHAT_TO_DO}`,
}

/**
 * Creates the copy.
 *
 * @param tell Called with a log message when the token stops working.
 */
export function createOperatorStanding(
  token: string,
  hasher: TokenHasher,
  tell: (text: string) => void,
): OperatorStanding {
  let last: TokenStanding | null = null
  const heard = (standing: TokenStanding): void => {
    if (standing === last) return
    last = standing
    if (standing !== 'good') tell(MESSAGES[standing])
  }
  return {
    token,
    last: () => last,
    heard,
    look: async (db) => heard(await tokenStanding(db, hasher, token)),
  }
}
