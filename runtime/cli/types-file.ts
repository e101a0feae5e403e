/** Keeps connector.types.ts of a folder in line with its connector.json, for authors who import it. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as v from 'valibot'
import { connectorTypes, TYPES_FILE } from '../contract/connector/connector-types.ts'
import { Manifest } from '../contract/connector/manifest.ts'

/**
 * The manifest cannot be read (a check reports why), no source imports the file, nothing changed, or it was
 * written.
 */
type Outcome = 'unreadable' | 'unwanted' | 'same' | 'written'

/**
 * Writes the file if its content changes, provided that it exists or a source of the folder imports it.
 *
 * @throws Error of the file system if it cannot be written
 */
export async function refreshTypes(folder: string): Promise<Outcome> {
  const names = await readdir(folder).catch((): string[] => [])
  if (!names.includes(TYPES_FILE) && !(await isNamed(folder, names))) return 'unwanted'
  const manifest = await manifestOf(folder)
  if (manifest === null) return 'unreadable'
  const text = connectorTypes(manifest)
  const file = path.join(folder, TYPES_FILE)
  if (names.includes(TYPES_FILE) && (await readFile(file, 'utf8')) === text) return 'same'
  await writeFile(file, text)
  return 'written'
}

async function isNamed(folder: string, names: readonly string[]): Promise<boolean> {
  const sources = names.filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(
    sources.map((name) => readFile(path.join(folder, name), 'utf8').catch(() => '')),
  )
  return texts.some((text) => text.includes(`./${TYPES_FILE}`))
}

async function manifestOf(folder: string): Promise<Manifest | null> {
  try {
    const text = await readFile(path.join(folder, 'connector.json'), 'utf8')
    const parsed = v.safeParse(Manifest, JSON.parse(text))
    return parsed.success ? parsed.output : null
  } catch {
    // Missing or invalid. The check, which reads it next, reports it.
    return null
  }
}
