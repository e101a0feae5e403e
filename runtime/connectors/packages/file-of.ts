/** Files of a package that has been checked. */

/** Returns a file. @throws Error if the package has no such file, which is a bug in Keyway */
export function fileOf(files: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const body = files.get(name)
  if (body === undefined) throw new Error(`the package has no ${name}`)
  return body
}
