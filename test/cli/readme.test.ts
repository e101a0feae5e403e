/** The commands of the documentation for authors and operators, run unchanged in an empty folder. */
import { spawn } from 'node:child_process'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { forgetDatabase } from '../database/forget.ts'
import { freePort } from '../free-port.ts'
import { type Ended, MAIN } from '../kit/commands.ts'
import { newFolder } from '../kit/folder.ts'
import { basics } from '../kit/program.ts'
import { shellBlock } from '../pages.ts'

let home: string
let env: Record<string, string>
const groups: number[] = []
/** Resolve when a script and its background processes have ended. */
const ended: Promise<unknown>[] = []

beforeAll(async () => {
  home = newFolder('readme')
  const bin = path.join(home, '.bin')
  await mkdir(bin)
  // Stands in for npx, which would run the installed package.
  await writeFile(
    path.join(bin, 'npx'),
    `#!/bin/sh\nshift\nexec "${process.execPath}" --no-warnings "${MAIN}" "$@"\n`,
  )
  await chmod(path.join(bin, 'npx'), 0o755)
  const own = basics()
  env = { ...own, PATH: `${bin}:${own['PATH']}`, PORT: String(await freePort()) }
})
afterAll(async () => {
  for (const pid of groups) {
    try {
      process.kill(-pid, 'SIGTERM')
    } catch {
      // Its group is gone already.
    }
  }
  await Promise.all(ended)
  await forgetDatabase(path.join(home, 'data'))
  await rm(home, { recursive: true, force: true, maxRetries: 10 })
})

/** Runs a script to its end; its background processes run until the end of the tests. */
function sh(script: string): Promise<Ended> {
  const child = spawn('sh', ['-ec', script], {
    cwd: home,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  groups.push(child.pid as number)
  ended.push(new Promise((resolve) => child.once('close', resolve)))
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk
  })
  return new Promise((resolve) => {
    child.once('exit', (code) => setImmediate(() => resolve({ code: code ?? -1, out, err })))
  })
}

test('an author gets from an empty folder to a signed, installed connector that answers', async () => {
  const { code, out, err } = await sh(shellBlock(/^npx keyway start > keyway\.log/))
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain('acme 0.1.0: signed by a trusted publisher (Acme Inc.)')
  expect(out).toMatch(
    /served by all hosts:\n {2}acme: 0\.1\.0 installed.*\n {2}acme: serves 0\.1\.0/,
  )
  const info = JSON.parse(out.slice(out.lastIndexOf('\n{\n')))
  expect(info).toMatchObject({ app_id: 'acme' })
})

test('an author checks the next version against the last one', async () => {
  const { code, out, err } = await sh(shellBlock(/^npx keyway check acme --against/))
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^ok +acme 0\.1\.0/m)
})

test('an operator installs, upgrades and rolls back', async () => {
  const next = `npx keyway remove acme
    sed -i.bak 's/"version": "0.1.0"/"version": "0.2.0"/' acme/connector.json
    npx keyway pack acme --against acme-0.1.0.tgz
    npx keyway sign acme-0.2.0.tgz --key acme.key`
  expect(await sh(next)).toMatchObject({ code: 0 })
  // The page assumes a new host, whose first generation is 1; this host has served others already.
  const { out: history } = await sh('npx keyway history --limit 1')
  const begun = Number(/^\d+/.exec(history)?.[0])
  const script = shellBlock(/^npx keyway install acme-0\.1\.0\.tgz/).replace(
    'rollback 2 ',
    `rollback ${begun + 2} `,
  )
  const { code, out, err } = await sh(script)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^acme +0\.1\.0 +installed +ready$/m)
  expect(out).toMatch(/activate by admin@localhost: for the sales team/)
  for (const words of ['0.1.0 → 0.2.0', '0.2.0 → 0.1.0', 'may no longer offer assign_entitlement'])
    expect(out).toContain(`acme: ${words}`)
  expect(out).toMatch(/acme: disabled for new calls[\s\S]*acme: enabled[\s\S]*acme: removed/)
})
