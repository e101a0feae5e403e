/** Redacted names in log entries: the chain still verifies, and any other change of an entry is detected. */
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { verifyActivity, verifyNewest } from '../../../../runtime/core/kernel/audit/chain.ts'
import { redactEntries } from '../../../../runtime/core/kernel/audit/redacted.ts'
import { chainWaiting } from '../../../../runtime/core/kernel/audit/unchained-entries.ts'
import { type CoreHost, domainOf, startCore } from '../../host.ts'

let core: CoreHost
let domainId: string
let owner: Client

beforeAll(async () => {
  core = await startCore()
  domainId = await domainOf(core.db)
  owner = new Client(await core.login())
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await core.stop()
})

/** A word that occurs nowhere else in the log. */
let word = ''
let other = ''
beforeEach(async () => {
  word = randomUUID()
  other = randomUUID()
  await writeEntry('FIRST', `of ${word} and of ${other}`)
  await writeEntry('SECOND', 'of nobody')
  await writeEntry('THIRD', `${word} again`)
  await chainWaiting(core.db, domainId)
})

const writeEntry = (type: string, words: string) =>
  core.db.execute(sql`insert into activity_waiting (domain_id, body) values (${domainId},
    ${`"${domainId}","${type}","Succeeded",{},[],{"words":"${words}"}`})`)

const redacted = (name: string) =>
  redactEntries(core.db, domainId, [`()${name}`], sql`event_metadata::text ~ ${name}`)
const verified = () => verifyActivity(core.db, domainId)

/** Changes the log, as someone who controls the database can. */
async function asOwner(change: string): Promise<void> {
  await owner.query(`begin; set local keyway.redacting = 'on'; ${change}; commit`)
}
const latestOf = (type: string) =>
  `id = (select max(id) from activity_logs where event_type = '${type}')`

test('a redaction removes the name, keeps every noted hash, and leaves the chain valid', async () => {
  const { head, redacted: before } = await verified()
  expect(await redacted(word)).toBe(2)
  // The redaction is valid even before its own entry is chained.
  expect(await verified()).toMatchObject({ broken: null, redacted: before + 2 })
  await chainWaiting(core.db, domainId)
  const { rows } = await owner.query('select t::text from activity_logs t')
  expect(JSON.stringify(rows)).not.toContain(word)
  expect(await verifyActivity(core.db, domainId, { find: head })).toMatchObject({
    ...{ broken: null, found: true, redacted: before + 2 },
  })
  expect((await verifyNewest(core.db, domainId)).broken).toBeNull()
})

test('another name can be redacted from the same entry later', async () => {
  expect(await redacted(word)).toBe(2)
  expect(await redacted(other)).toBe(1)
  await chainWaiting(core.db, domainId)
  expect((await verified()).broken).toBeNull()
})

test('a change of a redacted entry is detected, even if its recorded digest is changed too', async () => {
  await redacted(word)
  await chainWaiting(core.db, domainId)
  await asOwner(
    `update activity_logs set event_metadata = '{"words":"all is well"}' where ${latestOf('FIRST')}`,
  )
  expect((await verified()).broken).toMatchObject({ eventType: 'FIRST' })
  expect((await verifyNewest(core.db, domainId)).broken).toMatchObject({ event_type: 'FIRST' })
  await asOwner(`update activity_redactions set digest = encode(sha256(convert_to(
      jsonb_build_array(actor, targets, event_metadata)::text, 'UTF8')), 'hex')
    from activity_logs l where l.event_hash = activity_redactions.event_hash and l.${latestOf('FIRST')}`)
  expect((await verified()).broken).toMatchObject({ eventType: 'FIRST' })
  await asOwner(
    `update activity_logs set event_metadata = '{"words":"of erased and of ${other}"}' where ${latestOf('FIRST')}`,
  )
  await asOwner(`update activity_redactions set digest = encode(sha256(convert_to(
      jsonb_build_array(actor, targets, event_metadata)::text, 'UTF8')), 'hex')
    from activity_logs l where l.event_hash = activity_redactions.event_hash and l.${latestOf('FIRST')}`)
  expect((await verified()).broken).toBeNull()
})

test('an entry that was changed before is not redacted, so that the change stays visible', async () => {
  await asOwner(`update activity_logs set outcome = 'Failed' where ${latestOf('THIRD')}`)
  await expect(redacted(word)).rejects.toThrow(
    /THIRD.*is not what was originally written: see keyway audit verify/,
  )
  await asOwner(`update activity_logs set outcome = 'Succeeded' where ${latestOf('THIRD')}`)
  expect(await redacted(word)).toBe(2)
})

test('the host itself may change neither entries nor the records of redactions', async () => {
  await expect(core.db.execute(sql`update activity_logs set outcome = 'Failed'`)).rejects.toThrow()
  for (const change of [
    sql`delete from activity_redactions`,
    sql`insert into activity_redactions (domain_id, batch, event_hash, digest)
      values (${domainId}, ${randomUUID()}, '', '')`,
  ])
    await expect(core.db.execute(change)).rejects.toThrow()
})
