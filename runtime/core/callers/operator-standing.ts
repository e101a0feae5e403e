/**
 * What a host last heard of its operator's token. The database decides; this is for when it is away, so
 * that a token works then which worked before, and one that has ended does not come back.
 */
import type { Db } from '../../database/database.ts'
import { type Standing, standingOf } from './operator-token.ts'
import type { TokenHasher } from './principal.ts'

export type OperatorStanding = {
  readonly token: string
  /** Null until the database was reached for the first time. */
  last(): Standing | null
  /** Takes down what the database says. */
  heard(standing: Standing): void
  /** Asks the database. */
  look(db: Db): Promise<void>
}

const WHAT_TO_DO =
  'set KEYWAY_ADMIN_TOKEN to the one that works, the same on every host; or to a new one, which ends it'

/** What an operator is told in the log. */
const WORDS: Record<Exclude<Standing, 'good'>, string> = {
  ended: `the operator’s token of this host does not work any more, because it was revoked or another took its place: ${WHAT_TO_DO} (a generated one is made again where the file admin-token was removed)`,
  another: `the operator’s token of this host does not work, because this database has that of another host: ${WHAT_TO_DO}`,
}

/** @param tell Hears in words when the token works no more. */
export function createOperatorStanding(
  token: string,
  hasher: TokenHasher,
  tell: (text: string) => void,
): OperatorStanding {
  let last: Standing | null = null
  const heard = (standing: Standing): void => {
    if (standing === last) return
    last = standing
    if (standing !== 'good') tell(WORDS[standing])
  }
  return {
    token,
    last: () => last,
    heard,
    look: async (db) => heard(await standingOf(db, hasher, token)),
  }
}
