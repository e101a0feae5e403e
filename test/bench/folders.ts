/** Plugin directories for a measurement. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

const MODEL = path.join(import.meta.dirname, 'connectors', 'bench')

/** Writes a number of copies of the bench connector, each with an id of its own, and returns the ids. */
export async function writeConnectors(plugins: string, count: number): Promise<string[]> {
  const manifest = JSON.parse(await readFile(path.join(MODEL, 'connector.json'), 'utf8'))
  const ids = Array.from({ length: count }, (_, index) => `bench_${index}`)
  await mkdir(plugins, { recursive: true })
  for (const id of ids) {
    const folder = path.join(plugins, id)
    await cp(MODEL, folder, { recursive: true })
    await writeFile(path.join(folder, 'connector.json'), JSON.stringify({ ...manifest, id }))
  }
  return ids
}
