/**
 * A host is killed at every step of an install, before and after each statement to the database, and then
 * at random moments (`KILLS=200` for the long form). Each time, what is installed is one complete
 * generation, and the next start needs no intervention.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Deadly, type Killable, killable } from './killable.ts'
import { packaged } from './packaging.ts'

const KILLS = Number(process.env['KILLS'] ?? 4)
/** Maximum time from the start of an install to the kill, in milliseconds. */
const INSTALL_MS = 800

let host: Killable
beforeAll(async () => {
  host = await killable()
  await host.start()
})
afterAll(() => host.stop())

const WORDS = [
  '"packages"',
  '"installed_states"',
  '"generations"',
  'insert into activity_waiting',
  'pg_notify',
  'commit',
]
const STEPS = WORDS.flatMap((word): Deadly[] => [
  { word, when: 'before' },
  { word, when: 'after' },
])

test('an install that is killed at any step leaves a complete generation, and can be repeated', async () => {
  for (const [index, step] of STEPS.entries()) {
    const made = await packaged({ version: `1.${index}.0` })
    // Every second install is killed during activation, the others during upload.
    const isLate = index % 2 === 1 && step.word !== '"packages"'
    if (isLate) await host.operate('POST', '/packages?wait_ms=0', made.packed)
    const before = await host.whole()
    host.killAt(step)
    await host.install(made).catch(() => undefined)
    expect(await host.ended(), JSON.stringify(step)).toMatchObject({ signal: 'SIGKILL' })

    await host.start()
    const after = await host.whole()
    expect([0, 1], JSON.stringify(step)).toContain(after.generation - before.generation)
    await host.install(made)
    expect(await host.answering()).toBe(`acme@1.${index}.0`)
  }
}, 180_000)

test(
  'installs that are killed at random leave complete generations, and the host starts again',
  async () => {
    let installed = 0
    for (let n = 0; n < KILLS; n += 1) {
      const made = await packaged({ version: `2.${n}.0` })
      const before = await host.whole()
      const install = host.install(made).then(
        () => true,
        () => false,
      )
      await new Promise((resolve) => setTimeout(resolve, Math.random() * INSTALL_MS))
      await host.kill()
      const isAnswered = await install
      await host.start()
      const after = await host.whole()
      expect([0, 1, 2]).toContain(after.generation - before.generation)
      // An acknowledged install is not lost.
      if (isAnswered) expect(await host.answering()).toBe(`acme@2.${n}.0`)
      installed += isAnswered ? 1 : 0
    }
    console.log(`${KILLS} kills, ${installed} after the last answer`)
  },
  60_000 + KILLS * 20_000,
)
