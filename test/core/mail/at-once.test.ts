/** Concurrent changes of personal settings. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockUser } from '../../../runtime/core/kernel/identity/principal.ts'
import { changePersonalSettings, getPersonalSettings } from '../../../runtime/core/mail/settings.ts'
import { personalSettings } from '../../../runtime/database/schema/mail.ts'
import { type CoreHost, domainOf, person, startCore } from '../host.ts'
import { meanwhile } from '../meanwhile.ts'

let core: CoreHost
beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

test('concurrent changes of personal settings are both kept', async () => {
  const { db } = core
  const { id: userId } = await person(db, 'quiet@example.com')
  const who = { userId, domainId: await domainOf(db), readOnly: false }
  await meanwhile(
    db,
    async (tx) => {
      await lockUser(tx, userId)
      await tx.insert(personalSettings).values({ ...who, mail: 'NONE' })
    },
    () => changePersonalSettings(db, who, { language: 'de' }),
  )
  expect(await getPersonalSettings(db, who)).toEqual({ mail: 'NONE', language: 'de' })
})
