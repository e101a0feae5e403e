/**
 * Typed keys and entries of tables. The types hold only for a table written as a literal, which has no keys
 * other than those of its type.
 */

type Key<T> = keyof T & string

/** Returns the keys of a table. The cast holds for literal tables. */
export const keysOf = <T extends object>(table: T): Key<T>[] => Object.keys(table) as Key<T>[]

/** Returns the entries of a table. */
export const entriesOf = <T extends object>(table: T): [Key<T>, T[Key<T>]][] =>
  keysOf(table).map((key) => [key, table[key]])

/** Builds a table from entries. The cast is needed because `fromEntries` loses the type of the keys. */
export const tableOf = <K extends string, R>(entries: readonly (readonly [K, R])[]): Record<K, R> =>
  Object.fromEntries(entries) as Record<K, R>

/** Returns a table with the same keys and mapped values. */
export const mapValues = <T extends object, R>(
  table: T,
  to: (value: T[Key<T>], key: Key<T>) => R,
): Record<Key<T>, R> => tableOf(keysOf(table).map((key) => [key, to(table[key], key)]))

/** Reports whether an untrusted name is a key of a table. */
export const isKeyOf = <T extends object>(table: T, name: string): name is Key<T> =>
  Object.hasOwn(table, name)
