/**
 * `keyway new`: creates a connector folder from a template or a built-in connector, with its own id and name.
 */

import { copyFile, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import * as v from 'valibot'
import { ConfigError } from '../config/config.ts'
import { ConnectorId, normalizeId } from '../contract/connector/manifest.ts'
import { ifMissing } from '../contract/errors/thrown.ts'
import { TEMPLATES, type TemplateName } from './templates.ts'
import { terminalJson } from './terminal/json.ts'
import { quoted } from './terminal/quoted.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')
const TEMPLATE = path.join(ROOT, 'plugin-template')
const BUILT_IN = path.join(ROOT, 'plugins')
const AUTHORS = path.join(ROOT, 'runtime/docs/authors')

/** Whether this runs from source, in which the types for authors are not built yet. */
const IS_CHECKOUT = import.meta.filename.endsWith('.ts')

/** The template's own id and name, which are replaced in its files. */
const TEMPLATE_ID = 'acme'
const TEMPLATE_NAME = 'Acme'

type NewFlags = {
  dir: string
  from?: string
  template?: TemplateName
  dryRun?: true
  json?: true
}

/**
 * Creates a connector folder.
 *
 * @throws ConfigError for a malformed id or that of a built-in connector, an existing folder, or an unknown
 *   built-in connector
 */
export async function newConnector(
  id: string,
  { dir, from, template = 'web', dryRun, json }: NewFlags,
): Promise<void> {
  const parsed = v.safeParse(ConnectorId, id)
  if (!parsed.success) throw new ConfigError(`${id}: ${parsed.issues[0].message}`)
  if ((await builtInIds()).some((one) => normalizeId(one) === normalizeId(id)))
    throw new ConfigError(
      `${id}: a built-in connector has this id, and a server would keep using that one; choose another id`,
    )
  const target = path.resolve(dir, id)
  if (await exists(target))
    throw new ConfigError(`${target} already exists; choose another id, or remove it`)
  const relative = path.relative(process.cwd(), target)
  // Outside the current directory, an absolute path is easier to read.
  const shown = relative === '' || relative.startsWith('..') ? target : relative
  const { shares, page } = TEMPLATES[template]
  const folder = folderOf(template)
  const source = from === undefined ? folder : await builtIn(from)
  const files =
    from === undefined
      ? [...shares, ...(await filesIn(folder))].sort()
      : (await readdir(source)).sort()
  if (!dryRun) await (from === undefined ? make(id, target, template) : copy(id, source, target))
  if (json) console.log(terminalJson({ id, directory: target, files }))
  else if (dryRun) console.log(`Would create ${shown} with ${files.join(', ')}.`)
  else tellNext(target, shown, page)
}

async function builtInIds(): Promise<string[]> {
  const entries = await readdir(BUILT_IN, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort()
}

async function builtIn(id: string): Promise<string> {
  const known = await builtInIds()
  if (known.includes(id)) return path.join(BUILT_IN, id)
  throw new ConfigError(
    `--from ${id}: there is no such connector; the connectors are ${known.join(', ')}`,
  )
}

/** Copies a built-in connector under another id, so that both can be served. */
async function copy(id: string, source: string, target: string): Promise<void> {
  await cp(source, target, { recursive: true, filter: (file) => path.basename(file)[0] !== '.' })
  await rename(id, target)
}

/** Writes the id and the name to a manifest. */
async function rename(id: string, target: string): Promise<void> {
  const file = path.join(target, 'connector.json')
  const text = await readFile(file, 'utf8')
  const named = text.replace(/("id": )"[^"]*"/, (_all, key) => `${key}${JSON.stringify(id)}`)
  await writeFile(
    file,
    named.replace(/("name": )"[^"]*"/, (_all, key) => `${key}"${nameOf(id)}"`),
  )
}

const nameOf = (id: string): string =>
  id
    .split(/[-_]+/)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')

async function make(id: string, target: string, template: TemplateName): Promise<void> {
  const { shares } = TEMPLATES[template]
  const folder = folderOf(template)
  await mkdir(target, { recursive: true })
  const own = await filesIn(folder)
  for (const name of shares) await copyFile(path.join(TEMPLATE, name), path.join(target, name))
  for (const name of own) await copyFile(path.join(folder, name), path.join(target, name))
  // The files of the other templates have their own text.
  for (const name of template === 'web' ? own : shares) await named(name)
  if (template === 'web') return
  await rename(id, target)
  const readme = path.join(target, 'README.md')
  const text = await readFile(readme, 'utf8')
  await writeFile(readme, text.replace(/^# .*/, `# ${nameOf(id)}`))

  /** Replaces the template's id and name. */
  async function named(file: string): Promise<void> {
    // A host name has no underscores and no trailing hyphen.
    const hostName = id.replace(/[-_]+/g, '-').replace(/-$/, '')
    const full = path.join(target, file)
    const found = await readFile(full, 'utf8')
    await writeFile(
      full,
      found
        .replaceAll(`${TEMPLATE_ID}.example`, `${hostName}.example`)
        .replaceAll(TEMPLATE_ID, id)
        .replaceAll(TEMPLATE_NAME, nameOf(id)),
    )
  }
}

const folderOf = (template: TemplateName): string => path.join(TEMPLATE, TEMPLATES[template].folder)

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { withFileTypes: true })).flatMap((entry) =>
    entry.isFile() ? entry.name : [],
  )

function tellNext(target: string, shown: string, page: string): void {
  console.log(
    `Created ${shown}. Next:\n\n  npx keyway check ${shown}\n  npx keyway dev ${shown}\n  npx keyway pack ${shown}\n  npx tsc -p ${shown}   # its types; needs \`npm install --save-dev typescript\`\n`,
  )
  console.log(`How to write it: ${path.relative(process.cwd(), path.join(AUTHORS, page))}\n`)
  if (!findsKeyway(target))
    console.log(
      `For the types of keyway/sdk there:\n\n${IS_CHECKOUT ? `  npm run build --prefix ${quoted(ROOT)}\n` : ''}  npm install --no-save --prefix ${quoted(shown)} ${quoted(ROOT)}\n`,
    )
}

/**
 * Reports whether an editor finds the package from a folder, because it is installed in a parent folder or
 * the folder is in the checkout.
 */
function findsKeyway(folder: string): boolean {
  try {
    createRequire(path.join(folder, 'connector.ts')).resolve('keyway/package.json')
    return true
  } catch {
    // Not found from there.
    return false
  }
}

const exists = (file: string): Promise<boolean> => stat(file).then(() => true, ifMissing(false))
