/**
 * Runs access reviews of accounts while hosts are killed: during the launch, the decisions and the removal in
 * turn.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { verifyEvidence } from '../../runtime/core/reviews/evidence/verify.ts'
import type { End } from '../core/requests/faults/bad-system.ts'
import { until } from '../e2e/until.ts'
import type { Scene } from './scene.ts'

/** Number of accounts in a review. */
const ACCOUNTS = 12
const DOMAIN = 'review.example'
const FAR = '2999-01-01T00:00:00Z'
const PATIENCE_MS = 180_000

type Line = { id: string; unique_identifier: string; state: string }

/**
 * Runs reviews until a host was killed this many times.
 *
 * @returns faults, a line each
 */
export async function reviewsUnderKills(
  scene: Scene,
  appId: string,
  kills: number,
  tell: (text: string) => void,
): Promise<string[]> {
  const wrong: string[] = []
  const fate = killing(scene, kills)
  for (let round = 1; fate.left > 0; round += 1) {
    tell(`review ${round}, ${fate.left} kills left`)
    wrong.push(...(await oneReview(scene, appId, round, fate)))
  }
  await fate.settled()
  return wrong
}

type Fate = ReturnType<typeof killing>

/** Kills one of the hosts at a random moment while another lives, and restarts it in the background. */
function killing({ hosts, endHost, startHost }: Scene, kills: number) {
  let left = kills
  let turn = 0
  let started: Promise<unknown> = Promise.resolve()
  return {
    get left() {
      return left
    },
    settled: () => started,
    /** Kills a host within this number of milliseconds. */
    async soon(withinMs: number): Promise<void> {
      if (left === 0) return
      left -= 1
      const index = turn % hosts.length
      turn += 1
      await started
      await pause(Math.random() * withinMs)
      await endHost(index, 'SIGKILL')
      started = startHost(index)
      started.catch(() => undefined)
    },
  }
}

async function oneReview(
  scene: Scene,
  appId: string,
  round: number,
  fate: Fate,
): Promise<string[]> {
  const { system, answered } = scene
  const ids = Array.from({ length: ACCOUNTS }, (_, n) => `review-${round}-${n}`)
  for (const id of ids)
    system.accounts.set(id, { email: `${id}@${DOMAIN}`, status: 'ACTIVE', atMs: 0 })
  await synced(scene, appId)
  system.behave(async (): Promise<End> => {
    await pause(20 + Math.random() * 150)
    return 'well'
  })
  const kill = fate.soon(800)
  const review = await made(scene, appId, round)
  await kill
  const path = `/access_reviews/${review}`
  await untilReviewIs(scene, path, 'IN_PROGRESS')
  const lines: Line[] = (await answered('GET', `${path}/items?size=100&search=review-${round}-`))
    .value.items
  const rejected = lines.filter((_, n) => n % 3 === 0)
  await Promise.all([fate.soon(300), decided(scene, path, lines, rejected)])
  await answered('POST', `${path}/items/decide`, { decision: 'KEEP', filter: {}, reason: 'others' })
  const removing = fate.soon(1500)
  await ended(scene, path)
  await removing
  await untilReviewIs(scene, path, 'COMPLETED')
  system.behave(() => 'well')
  return findingsOf(scene, path, { ids, rejected })
}

async function synced({ answered }: Scene, appId: string): Promise<void> {
  await answered('POST', `/apps/${appId}/sync`, { sync_type: 'full_sync' })
  await until(
    'the app is synced',
    async () => {
      const { value } = await answered('GET', `/operator/syncs?app_id=${appId}&limit=1`)
      return value.items[0]?.state === 'SUCCEEDED'
    },
    PATIENCE_MS,
  )
}

/** Creates a review; if the answer was lost, looks for it. */
async function made({ call, answered }: Scene, appId: string, round: number): Promise<string> {
  const name = `Review ${round}`
  const filter = { group: 'EMAIL_DOMAIN', name: DOMAIN, label: DOMAIN, value: DOMAIN }
  const apps = [{ id: appId, review_type: 'ACCOUNTS', scope_filters: [filter] }]
  for (;;) {
    await call('POST', '/access_reviews', { name, deadline_at: FAR, apps })
    const { value } = await answered('GET', '/access_reviews')
    const found = value.items.find((one: { name: string }) => one.name === name)
    if (found) return found.id
  }
}

async function decided(
  { answered }: Scene,
  path: string,
  lines: readonly Line[],
  rejected: readonly Line[],
): Promise<void> {
  for (const line of lines) {
    const decision = rejected.includes(line) ? 'REJECT' : 'KEEP'
    // A decision whose answer was lost is not changed by the retry.
    const act = { decision, reason: 'for a test', item_ids: [line.id] }
    await answered('POST', `${path}/items/decide`, act)
  }
}

/** Ends the decisions, with retries if an answer is lost. */
async function ended({ call }: Scene, path: string): Promise<void> {
  await until(
    'the review is completed',
    async () => {
      const reply = await call('POST', `${path}/complete`)
      return reply !== null && [200, 409].includes(reply.status)
    },
    PATIENCE_MS,
  )
}

/** @throws Error with the progress so far */
async function untilReviewIs({ answered }: Scene, path: string, status: string): Promise<void> {
  try {
    await until(
      `the review is ${status}`,
      async () => (await answered('GET', path)).value.status === status,
      PATIENCE_MS,
    )
  } catch (error) {
    const progress = (await answered('GET', `${path}/progress`)).value
    const leaving = 'state=REMOVING&state=WAITING_FOR_HANDS&state=REJECTED'
    const lines = (await answered('GET', `${path}/items?${leaving}`)).value.items
    throw new Error(`${JSON.stringify({ progress, lines })}`, { cause: error })
  }
}

type Wanted = { ids: readonly string[]; rejected: readonly Line[] }

async function findingsOf(
  scene: Scene,
  path: string,
  { ids, rejected }: Wanted,
): Promise<string[]> {
  const { system, answered, sent } = scene
  const wrong: string[] = []
  const gone = new Set(rejected.map((one) => one.unique_identifier))
  for (const id of ids) {
    const { status } = system.accounts.get(id) ?? { status: 'there is none' }
    if (status !== (gone.has(id) ? 'SUSPENDED' : 'ACTIVE'))
      wrong.push(`${id} is ${status}, and was ${gone.has(id) ? 'rejected' : 'kept'}`)
  }
  const { keys } = (await answered('GET', '/.well-known/keyway-evidence-keys')).value
  const file = await until(
    'the evidence is available',
    () => sent('GET', `${path}/evidence`),
    PATIENCE_MS,
  )
  // A valid evidence file proves that the population is complete and that each removal is logged once.
  const said = await verifyEvidence([Buffer.from(file.text)], keys[0].fingerprint).catch(
    (error: Error) => error,
  )
  if (said instanceof Error) return [...wrong, `${path}: ${said.message}`]
  const { REMOVED = 0, KEPT = 0, ...others } = said.states
  if (REMOVED !== gone.size || Object.keys(others).length > 0 || REMOVED + KEPT !== said.items)
    wrong.push(`${path}: its lines are ${JSON.stringify(said.states)}, ${gone.size} were rejected`)
  const twice = file.text
    .split('\n')
    .filter((one) => one.includes('"kind":"item"'))
    .map((one) => JSON.parse(one))
    .filter(({ decisions }) => decisions.length !== 1)
  if (twice.length > 0) wrong.push(`${path}: ${twice.length} lines were not decided just once`)
  return wrong
}
