/** Values of unknown shape, read by the names of their members. */

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** An object as JSON has it: no list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && !Array.isArray(value)

/** An object without the members that are undefined. The cast: `fromEntries` forgets their types. */
export const withoutUndefined = <T extends object>(
  value: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/** The members of a value; a value without members has none. */
export const membersOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})
