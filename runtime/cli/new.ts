/** `keyway new`: a connector folder from the template, with its own id and name. */
import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import * as v from 'valibot'
import { ConfigError } from '../config.ts'
import { ConnectorId } from '../contract/manifest.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')
const TEMPLATE = path.join(ROOT, 'plugin-template')
const REFERENCE = path.join(ROOT, 'runtime/contract/README.md')

/** Whether this is the source: then the types that authors see are not built yet. */
const IS_CHECKOUT = import.meta.filename.endsWith('.ts')

/** The template's own id and name, which are replaced in its files. */
const TEMPLATE_ID = 'acme'
const TEMPLATE_NAME = 'Acme'

type NewFlags = { dir: string; dryRun?: true; json?: true }

/** @throws ConfigError for an id that is none, or a folder that is there. */
export async function newConnector(id: string, { dir, dryRun, json }: NewFlags): Promise<void> {
  const parsed = v.safeParse(ConnectorId, id)
  if (!parsed.success) throw new ConfigError(`${id}: ${parsed.issues[0].message}`)
  const target = path.resolve(dir, id)
  if (await exists(target))
    throw new ConfigError(`${target} is there already; choose another id, or remove it`)
  const shown = path.relative(process.cwd(), target) || target
  const files = await readdir(TEMPLATE)
  if (!dryRun) await make(id, target)
  if (json) console.log(JSON.stringify({ id, directory: target, files }, null, 2))
  else if (dryRun) console.log(`Would make ${shown} with ${files.join(', ')}.`)
  else tellNext(target, shown)
}

async function make(id: string, target: string): Promise<void> {
  await cp(TEMPLATE, target, { recursive: true })
  const name = id
    .split(/[-_]+/)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
  // A host name has neither underscores nor a hyphen at its end.
  const hostName = id.replace(/[-_]+/g, '-').replace(/-$/, '')
  for (const file of ['connector.json', 'connector.ts', 'connector.cases.json', 'README.md']) {
    const full = path.join(target, file)
    const text = await readFile(full, 'utf8')
    await writeFile(
      full,
      text
        .replaceAll(`${TEMPLATE_ID}.example`, `${hostName}.example`)
        .replaceAll(TEMPLATE_ID, id)
        .replaceAll(TEMPLATE_NAME, name),
    )
  }
}

function tellNext(target: string, shown: string): void {
  console.log(
    `Made ${shown}. Next:\n\n  npx keyway check ${shown}\n  npx keyway dev ${shown}\n  npx keyway pack ${shown}\n`,
  )
  console.log(`What may stand in its files: ${path.relative(process.cwd(), REFERENCE)}\n`)
  if (!findsKeyway(target))
    console.log(
      `For the types of keyway/sdk there:\n\n  mkdir -p ${shown}/node_modules && ln -s ${ROOT} ${shown}/node_modules/keyway\n${IS_CHECKOUT ? `  npm run build --prefix ${ROOT}\n` : ''}`,
    )
}

/** Whether an editor finds the package from a folder: it is installed above, or the folder is in the checkout. */
function findsKeyway(folder: string): boolean {
  try {
    createRequire(path.join(folder, 'connector.ts')).resolve('keyway/package.json')
    return true
  } catch {
    // Not to be found from there.
    return false
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
