/** Advisory locks: all of them in one list, so that two never share a number. */
import { type SQL, sql } from 'drizzle-orm'

/** What one host does at a time on a database. */
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

/** Any number that is only ours, and room behind it. */
const FIRST = 0x6b657900

/** The number of a lock, for PostgreSQL's `pg_advisory_...` functions. */
export const lockNumber = (name: LockName): number => FIRST + NAMES.indexOf(name)

/** Waits for a lock, which is held until the transaction ends. */
export const lockUntilEnd = (name: LockName): SQL =>
  sql`select pg_advisory_xact_lock(${lockNumber(name)})`

/** Takes a lock that nobody holds, until the transaction ends; `got` of the one row says whether. */
export const tryLockUntilEnd = (name: LockName): SQL =>
  sql`select pg_try_advisory_xact_lock(${lockNumber(name)}) as got`

/** Apart from the numbers above, and from those of alone.ts. */
const TEXTS = 0x6b6578

/** Waits for a lock that is named by a text, which is held until the transaction ends. Two texts may share one. */
export const lockTextUntilEnd = (text: string): SQL =>
  sql`select pg_advisory_xact_lock(${TEXTS}, hashtext(${text}))`
