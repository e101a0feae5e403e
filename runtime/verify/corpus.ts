/** Makes the connector folder of an attack: its code from the corpus, and a manifest. */
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Attack, DEADLINE_MS, type Family, MEMORY_MB } from './attacks/attack.ts'

/** Folder of the corpus. It is part of the package. */
export const CORPUS: string = path.join(import.meta.dirname, '..', '..', 'test', 'hostile')

export type FolderPlace = {
  /** Plugin directory. */
  plugins: string
  /** Data directory of the host, which no connector may read. */
  secrets: string
}

/** Returns the path of an attack's code: a file, or a folder if there are several files. */
export function attackSource(family: Family, { name, shared }: Attack): string {
  const folder = path.join(CORPUS, family, shared?.source ?? name)
  if (existsSync(folder)) return folder
  // A compromised worker does not use the connector's code.
  return family === 'worker' ? path.join(CORPUS, family, 'connector.ts') : `${folder}.ts`
}

/** Writes the folder of an attack and returns its path. */
export async function writeFolder(
  family: Family,
  attack: Attack,
  { plugins, secrets }: FolderPlace,
): Promise<string> {
  const folder = path.join(plugins, attack.name)
  // Already written with its family. Writing it again would trigger another check.
  if (existsSync(folder)) return folder
  const source = attackSource(family, attack)
  await mkdir(folder, { recursive: true })
  if (source.endsWith('.ts')) await cp(source, path.join(folder, 'connector.ts'))
  else await cp(source, folder, { recursive: true, verbatimSymlinks: true })
  const parameter = attack.shared ? { 'parameter.ts': `${attack.shared.parameter}\n` } : {}
  for (const [name, content] of Object.entries({ ...parameter, ...attack.files?.() })) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
    await writeFile(path.join(folder, name), content)
  }
  for (const [name, target] of Object.entries(attack.links ?? {}))
    await symlink(target.replace('{secrets}', secrets), path.join(folder, name))
  const manifest = path.join(folder, 'connector.json')
  if (!existsSync(manifest)) await writeFile(manifest, JSON.stringify(manifestOf(attack), null, 2))
  return folder
}

/** Returns the manifest of an attack: the usual one, with the attack's own members. */
function manifestOf({ name, deadlineMs, memoryMb, manifest }: Attack): object {
  return {
    ...usualManifest(name),
    limits: { deadline_ms: deadlineMs ?? DEADLINE_MS, memory_mb: memoryMb ?? MEMORY_MB },
    ...manifest,
  }
}

/** Returns the manifest of a connector that lists accounts with a token. */
export const usualManifest = (id: string): object => ({
  ...{ id, version: '1.0.0', runtime: '^1.0.0' },
  authentication_schema: { kind: 'token' },
  settings: { base_url: { type: 'string', format: 'url' } },
  egress: [{ url: '{settings.base_url}' }],
  capabilities: { list_accounts: {}, get_account: {} },
})

/** Returns an attack's description: the first comment of its code, in one line. */
export async function attackWords(family: Family, attack: Attack): Promise<string> {
  const source = attackSource(family, attack)
  const file = source.endsWith('.ts') ? source : path.join(source, 'connector.ts')
  const [, comment = ''] = /\/\*\*([\s\S]*?)\*\//.exec(await readFile(file, 'utf8')) ?? []
  return comment
    .replaceAll(/\n\s*\*/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
