/** `keyway new`: a connector folder from the template, with its own id and name. */
import { cp, readFile, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import * as v from 'valibot'
import { ConnectorId } from '../contract/manifest.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')
const TEMPLATE = path.join(ROOT, 'plugin-template')
const REFERENCE = path.join(ROOT, 'runtime/contract/README.md')

/** Whether this is the source: then the types that authors see are not built yet. */
const IS_CHECKOUT = import.meta.filename.endsWith('.ts')

/** The template's own id and name, which are replaced in its files. */
const TEMPLATE_ID = 'acme'
const TEMPLATE_NAME = 'Acme'

export async function newConnector(id: string, { dir }: { dir: string }): Promise<void> {
  const parsed = v.safeParse(ConnectorId, id)
  if (!parsed.success) return fail(`${id}: ${parsed.issues[0].message}`)
  const target = path.resolve(dir, id)
  if (await exists(target))
    return fail(`${target} is there already; choose another id, or remove it`)
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
  const shown = path.relative(process.cwd(), target) || target
  console.log(`Made ${shown}. Next:\n\n  npx keyway check ${shown}\n  npx keyway dev ${shown}\n`)
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

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
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
