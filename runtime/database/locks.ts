/** Advisory locks, all in one list, so that no two share a number. */
import { type SQL, sql } from 'drizzle-orm'

/** Tasks that only one host at a time performs on a database. */
const NAMES = [
  'migrating',
  'giving rights',
  'agreeing on the secret',
  'making the first admin',
  'chaining the log',
  'folding changes',
  'importing people',
  'making the sample company',
  'changing what is installed',
] as const
type LockName = (typeof NAMES)[number]

/** Arbitrary number that only Keyway uses, with unused numbers after it. */
const FIRST = 0x6b657900

/** Returns the number of a lock, for PostgreSQL's `pg_advisory_...` functions. */
export const lockNumber = (name: LockName): number => FIRST + NAMES.indexOf(name)

/** Waits for a lock, which is held until the transaction ends. */
export const lockUntilEnd = (name: LockName): SQL =>
  sql`select pg_advisory_xact_lock(${lockNumber(name)})`

/** Takes a free lock until the transaction ends. `got` of the single row reports whether it did. */
export const tryLockUntilEnd = (name: LockName): SQL =>
  sql`select pg_try_advisory_xact_lock(${lockNumber(name)}) as got`

/** Namespace of the locks below. Differs from the numbers above, and from those of exclusive-work.ts. */
const TEXTS = 0x6b6578

/**
 * Waits for a lock that is named by a text and held until the transaction ends. Two texts may share a lock.
 */
export const lockTextUntilEnd = (text: string): SQL =>
  sql`select pg_advisory_xact_lock(${TEXTS}, hashtext(${text}))`
