/** Reports whether an untrusted value is in a list. */
export function isOneOf<T>(list: readonly T[], value: unknown): value is T {
  const all: readonly unknown[] = list
  return all.includes(value)
}
