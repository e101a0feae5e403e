/** A file of a package that was judged before. */

/** @throws Error if the package has no such file: a defect of ours. */
export function fileOf(files: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const body = files.get(name)
  if (body === undefined) throw new Error(`the package has no ${name}`)
  return body
}
