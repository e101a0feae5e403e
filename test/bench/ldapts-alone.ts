/**
 * Reads a directory by ldapts alone, in a process of its own. Takes `URL`, `BASE_DN`, `BIND_DN` and
 * `PASSWORD` from the environment and prints a `Reading` as JSON.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Client } from 'ldapts'

export const PAGE = 1000

/** The duration, and the processor time of the process in microseconds. */
export type Reading = { tookMs: number; clientUs: number }

export type Directory = { url: string; baseDn: string; auth: { bindDn: string; password: string } }

/** Reads it in a new process, which is as cold as the host that it is compared with. */
export async function readAlone({ url, baseDn, auth }: Directory): Promise<Reading> {
  const env = { URL: url, BASE_DN: baseDn, BIND_DN: auth.bindDn, PASSWORD: auth.password }
  const file = import.meta.filename
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    env: { ...process.env, ...env },
  })
  return JSON.parse(stdout)
}

/** All people and all groups with their members. */
async function readAll(): Promise<Reading> {
  const { URL: url = '', BASE_DN: base, BIND_DN: bindDn = '', PASSWORD: password } = process.env
  const before = process.cpuUsage()
  const begunMs = performance.now()
  const client = new Client({ url })
  await client.bind(bindDn, password)
  for (const [ou, attributes] of [
    ['crowd', ['uid', 'mail', 'givenName', 'sn', 'cn', 'displayName', 'entryUUID']],
    ['crowds', ['cn', 'member']],
  ] as const)
    for await (const { searchEntries } of client.searchPaginated(`ou=${ou},${base}`, {
      attributes: [...attributes],
      paged: { pageSize: PAGE },
    }))
      if (searchEntries.length === 0) throw new Error(`ou=${ou} is empty`)
  await client.unbind()
  const { user, system } = process.cpuUsage(before)
  return { tookMs: performance.now() - begunMs, clientUs: user + system }
}

if (import.meta.main) console.log(JSON.stringify(await readAll()))
