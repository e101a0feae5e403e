/** List of the built-in connectors: id and content digest. A test keeps it up to date. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'

const BUILT_IN_FILE: string = path.join(import.meta.dirname, 'built-in.json')

const List = v.record(v.string(), v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)))

/** Reads the digests of the built-in connectors. */
export async function readBuiltIn(): Promise<ReadonlySet<string>> {
  return new Set(Object.values(v.parse(List, JSON.parse(await readFile(BUILT_IN_FILE, 'utf8')))))
}
