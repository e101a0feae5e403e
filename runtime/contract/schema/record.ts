/** Reading access to values of unknown shape. */

/** Reports whether a value is an object or an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Reports whether a value is an object in the JSON sense, not a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && !Array.isArray(value)

/**
 * Returns an object without its undefined members. The cast is needed because `fromEntries` loses their
 * types.
 */
export const withoutUndefined = <T extends object>(
  value: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/** Returns the members of a value; empty for a value without members. */
export const membersOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})
