/**
 * Keys of a table, with their types. The casts are right for a table that is written as a literal: it has no keys but
 * those of its type.
 */

type Key<T> = keyof T & string

export const keysOf = <T extends object>(table: T): Key<T>[] => Object.keys(table) as Key<T>[]

export const entriesOf = <T extends object>(table: T): [Key<T>, T[Key<T>]][] =>
  Object.entries(table) as [Key<T>, T[Key<T>]][]

/** A table with the same keys; the cast: `fromEntries` forgets them. */
export const mapValues = <T extends object, R>(
  table: T,
  to: (value: T[Key<T>], key: Key<T>) => R,
): Record<Key<T>, R> =>
  Object.fromEntries(entriesOf(table).map(([key, value]) => [key, to(value, key)])) as Record<
    Key<T>,
    R
  >

/** Whether a name from outside is a key of a table. */
export const isKeyOf = <T extends object>(table: T, name: string): name is Key<T> =>
  Object.hasOwn(table, name)
