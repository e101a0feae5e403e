/**
 * Keys of a table, with their types. They are right for a table that is written as a literal: it has no keys but those
 * of its type.
 */

type Key<T> = keyof T & string

/** The cast: for such a table. */
export const keysOf = <T extends object>(table: T): Key<T>[] => Object.keys(table) as Key<T>[]

export const entriesOf = <T extends object>(table: T): [Key<T>, T[Key<T>]][] =>
  keysOf(table).map((key) => [key, table[key]])

/** A table of entries; the cast: `fromEntries` forgets their keys. */
export const tableOf = <K extends string, R>(entries: readonly (readonly [K, R])[]): Record<K, R> =>
  Object.fromEntries(entries) as Record<K, R>

/** A table with the same keys. */
export const mapValues = <T extends object, R>(
  table: T,
  to: (value: T[Key<T>], key: Key<T>) => R,
): Record<Key<T>, R> => tableOf(keysOf(table).map((key) => [key, to(table[key], key)]))

/** Whether a name from outside is a key of a table. */
export const isKeyOf = <T extends object>(table: T, name: string): name is Key<T> =>
  Object.hasOwn(table, name)
