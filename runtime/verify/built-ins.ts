/** Detects changes to the built-in objects of this process. */

const WATCHED: Record<string, object> = {
  globalThis,
  'Object.prototype': Object.prototype,
  'Array.prototype': Array.prototype,
  'Function.prototype': Function.prototype,
  'Promise.prototype': Promise.prototype,
  'String.prototype': String.prototype,
  'Map.prototype': Map.prototype,
  'Error.prototype': Error.prototype,
  'RegExp.prototype': RegExp.prototype,
  Object,
  Array,
  Promise,
  JSON,
  Reflect,
  Error,
}

/** Records the current built-ins. Returns a function that returns the names of members changed since then. */
export function watchBuiltIns(): () => string[] {
  const before = Object.entries(WATCHED).map(([name, home]) => ({
    name,
    home,
    members: read(home),
  }))
  return () =>
    before.flatMap(({ name, home, members }) => {
      const now = read(home)
      const keys = new Set([...members.keys(), ...now.keys()])
      return [...keys]
        .filter((key) => !Object.is(members.get(key), now.get(key)))
        .map((key) => `${name}.${String(key)}`)
    })
}

/** Returns the value of each member. A getter is represented by its function and not called. */
function read(home: object): Map<PropertyKey, unknown> {
  return new Map(
    Reflect.ownKeys(home).map((key) => {
      const member = Object.getOwnPropertyDescriptor(home, key)
      return [key, member?.get ?? member?.value]
    }),
  )
}
