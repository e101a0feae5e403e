/**
 * Verdicts on connectors that tests drop in, each given once for a run: to compile one and to load it in a worker of its
 * own takes more than half of a second, and many hosts are started on the same folders.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { readFolder } from '../../runtime/connectors/registry/folder.ts'
import { TEMPLATE } from './template.ts'

/** Where a host keeps its verdicts, below its data directory: a folder each, named for digest and runtime (registry/store.ts). */
const VERDICTS = 'connectors'

/** Where those of the run lie, below the data directory of the template; first-start.ts makes it. */
export const KEPT = 'dropped-in'

/** Gives a new data directory the verdicts on a folder of connectors that another host of the run has come to. */
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

/** Keeps the good verdicts of a host that has stopped, for later ones; of a bad one the machine may be the cause. */
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

/** Puts a folder where another process may have put the same one meanwhile. */
async function put(folder: string, target: string): Promise<void> {
  await rename(folder, target).catch((error: unknown) => {
    if (!existsSync(target)) throw error
  })
}

/** Where the verdicts of the run are kept; null in a program that is no test. */
function keptIn(): string | null {
  const template = process.env[TEMPLATE]
  return template === undefined ? null : path.join(template, KEPT)
}

/** The whole verdicts of a folder: what is being written is named otherwise. */
async function names(folder: string): Promise<string[]> {
  const found = existsSync(folder) ? await readdir(folder) : []
  return found.filter((name) => /^[0-9a-f]{64}-[0-9a-f]{12}$/.test(name))
}
