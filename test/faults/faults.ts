/**
 * `npm run faults`: applies every fault of FAULTS to two hosts on one database, while people request access
 * and access expires. Prints what was lost, and how long the recovery took. Exits with 1 if something is
 * wrong. `FAULTS=short` runs what the tests run, `FAULTS=alone` omits the pairs, `LAST_MS` is the duration of
 * a fault (15 s), and an argument selects faults by a part of their name.
 */
import { until } from '../e2e/until.ts'
import { type Asked, approve, ask, findingsOf, newPeople, openStore } from './people.ts'
import { reviewsUnderKills } from './reviews.ts'
import { createScene } from './scene.ts'
import { ALONE, FAULTS } from './table.ts'

const LAST_MS = Number(process.env['LAST_MS'] ?? 15_000)
const [wanted = ''] = process.argv.slice(2)
/** Per fault: people whose access expires during it, and people who are granted access during it. */
const BEFORE = 3
const MEANWHILE = 3
/** How long the recovery may take, in milliseconds: longer than the longest pause between retries. */
const PATIENCE_MS = 400_000

const form = process.env['FAULTS'] ?? 'all'
/** Number of times a host is killed while access reviews run. */
const KILLS = Number(process.env['KILLS'] ?? (form === 'short' ? 3 : 100))
const REVIEWS = 'hosts are killed while access reviews go on'
const chosen = (form === 'alone' ? ALONE : FAULTS).filter(
  ({ name, short }) => name.includes(wanted) && (form !== 'short' || short),
)

async function main(): Promise<number> {
  const withReviews = REVIEWS.includes(wanted) && KILLS > 0
  if (chosen.length === 0 && !withReviews) throw new Error(`no fault has a name like “${wanted}”`)
  const scene = await createScene()
  let failed = 0
  try {
    const store = await openStore(scene)
    for (const { name, run, needsDisk } of chosen) {
      if (needsDisk && scene.disk === null) {
        console.log(`skip   ${name}: no disk may be mounted here`)
        continue
      }
      if (process.stderr.isTTY) process.stderr.write(`${name} ...\r`)
      const people = await newPeople(scene, BEFORE + MEANWHILE)
      const asked: Asked[] = []
      // Their access expires during the fault. Each is checked separately, since the access is short.
      await Promise.all(
        people.slice(0, BEFORE).map(async (email) => {
          const one = await ask(scene, store, email, false)
          await approve(scene, one)
          asked.push(one)
          await until('access is granted', () =>
            scene.system.held.has(`${scene.system.accountsOf(email)[0]?.[0]} group`),
          )
        }),
      )
      const meanwhile = (async () => {
        for (const email of people.slice(BEFORE)) {
          const one = await ask(scene, store, email, true)
          await approve(scene, one)
          asked.push(one)
        }
      })()
      await Promise.all([run(scene, LAST_MS), meanwhile])
      const overMs = performance.now()
      let wrong: string[] = []
      const right = await until(
        'every request ends as expected',
        async () => {
          wrong = await findingsOf(scene, asked)
          return wrong.length === 0
        },
        PATIENCE_MS,
      ).catch(() => false)
      const seconds = ((performance.now() - overMs) / 1000).toFixed(1)
      if (process.stderr.isTTY) process.stderr.write('\x1b[2K')
      console.log(
        right
          ? `ok     ${name}: ${asked.length} requests, nothing lost, right after ${seconds} s`
          : `WRONG  ${name}: not right after ${seconds} s\n       ${wrong.join('\n       ')}`,
      )
      if (!right) failed += 1
    }
    if (withReviews) {
      const tell = (text: string) => process.stderr.isTTY && process.stderr.write(`${text} ...\r`)
      const wrong = await reviewsUnderKills(scene, store.appId, KILLS, tell)
      const words = `${REVIEWS}: ${KILLS} kills`
      console.log(
        wrong.length === 0
          ? `ok     ${words}`
          : `WRONG  ${words}\n       ${wrong.join('\n       ')}`,
      )
      if (wrong.length > 0) failed += 1
    }
  } finally {
    await scene.stop()
  }
  console.log(failed === 0 ? 'nothing is wrong' : `${failed} faults are wrong`)
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
