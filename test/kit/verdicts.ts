/**
 * Verdicts on connectors that tests drop in, each made once per run: compiling one and loading it in a worker
 * of its own takes more than half a second, and many hosts are started on the same folders.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { readFolder } from '../../runtime/connectors/registry/folder.ts'
import { TEMPLATE } from './template.ts'

/**
 * Folder of a host's verdicts, below its data directory. It has a folder for each, named by digest and
 * runtime (registry/store.ts).
 */
const VERDICTS = 'connectors'

/** Folder of the run's verdicts, below the template's data directory. first-start.ts creates it. */
export const KEPT = 'dropped-in'

/**
 * Gives a new data directory the verdicts that another host of the run has reached on a folder of connectors.
 */
export async function withVerdictsOn(plugins: string, dataDir: string): Promise<void> {
  const home = keptIn()
  if (home === null || !existsSync(plugins)) return
  const kept = await names(home)
  if (kept.length === 0) return
  for (const folder of await readdir(plugins)) {
    const directory = path.join(plugins, folder)
    if (!existsSync(path.join(directory, 'connector.json'))) continue
    const { digest } = await readFolder(directory)
    for (const verdict of kept.filter((one) => one.startsWith(`${digest}-`)))
      await cp(path.join(home, verdict), path.join(dataDir, VERDICTS, verdict), { recursive: true })
  }
}

/**
 * Keeps the good verdicts of a host that has stopped, for later hosts. The machine may have caused a bad one.
 */
export async function keepVerdicts(dataDir: string): Promise<void> {
  const home = keptIn()
  if (home === null) return
  const builtIn = path.join(path.dirname(home), VERDICTS)
  const known = new Set([...(await names(builtIn)), ...(await names(home))])
  for (const name of await names(path.join(dataDir, VERDICTS))) {
    if (known.has(name)) continue
    const verdict = path.join(dataDir, VERDICTS, name)
    const { ok } = JSON.parse(await readFile(path.join(verdict, 'verdict.json'), 'utf8'))
    if (ok !== true) continue
    const copy = `${home}-${randomUUID()}`
    await cp(verdict, path.join(copy, name), { recursive: true })
    await put(path.join(copy, name), path.join(home, name))
    await rm(copy, { recursive: true })
  }
}

/** Moves a folder into place, unless another process has put the same one there. */
async function put(folder: string, target: string): Promise<void> {
  await rename(folder, target).catch((error: unknown) => {
    if (!existsSync(target)) throw error
  })
}

/** Returns the folder of the run's verdicts, or null outside of a test run. */
function keptIn(): string | null {
  const template = process.env[TEMPLATE]
  return template === undefined ? null : path.join(template, KEPT)
}

/** Returns the complete verdicts in a folder. Incomplete ones have another form of name. */
async function names(folder: string): Promise<string[]> {
  const found = existsSync(folder) ? await readdir(folder) : []
  return found.filter((name) => /^[0-9a-f]{64}-[0-9a-f]{12}$/.test(name))
}
