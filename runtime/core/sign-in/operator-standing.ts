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
  'set KEYWAY_ADMIN_TOKEN to the one that works, the same on every host; or to a new one, which ends it'

/** Log messages for operators. */
const MESSAGES: Record<Exclude<TokenStanding, 'good'>, string> = {
  ended: `the operator’s token of this host does not work any more, because it was revoked or another took its place: ${WHAT_TO_DO} (a generated one is made again where the file admin-token was removed)`,
  another: `the operator’s token of this host does not work, because this database has that of another host: ${WHAT_TO_DO}`,
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
