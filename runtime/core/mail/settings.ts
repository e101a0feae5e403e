/** Personal settings. */
import { and, eq, isNull, sql } from 'drizzle-orm'
import { forbidden } from '../../contract/errors/problem.ts'
import type {
  PersonalSettings,
  PersonalSettingsChange,
} from '../../contract/models/personal-settings.ts'
import type { Db } from '../../database/database.ts'
import { mails, personalSettings } from '../../database/schema/mail.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { type Caller, lockUser } from '../kernel/identity/principal.ts'

/** Settings of a person who has chosen nothing. */
const UNCHOSEN: PersonalSettings = { mail: 'AT_ONCE', language: null }

type Who = Pick<Caller, 'userId' | 'domainId' | 'readOnly'>

export async function getPersonalSettings(
  db: Db,
  { userId }: Pick<Who, 'userId'>,
): Promise<PersonalSettings> {
  const [row] = await db
    .select({ mail: personalSettings.mail, language: personalSettings.language })
    .from(personalSettings)
    .where(eq(personalSettings.userId, userId))
  return row ?? UNCHOSEN
}

/**
 * Changes the given settings. Waiting mail follows at once.
 *
 * @throws CoreError `forbidden` if the caller may only read
 */
export async function changePersonalSettings(
  db: Db,
  who: Who,
  { mail, language }: PersonalSettingsChange,
): Promise<PersonalSettings> {
  if (who.readOnly) throw forbidden('This token is read-only')
  const { userId, domainId } = who
  return db.transaction(async (tx) => {
    // One change at a time per person, so that concurrent changes do not undo each other.
    await lockUser(tx, userId)
    const before = await getPersonalSettings(tx, who)
    const after: PersonalSettings = {
      mail: mail ?? before.mail,
      language: language === undefined ? before.language : language,
    }
    if (after.mail === before.mail && after.language === before.language) return after
    await tx
      .insert(personalSettings)
      .values({ userId, domainId, ...after })
      .onConflictDoUpdate({ target: personalSettings.userId, set: after })
    const waiting = and(eq(mails.userId, userId), isNull(mails.endedAt))
    if (after.mail === 'NONE')
      await tx.update(mails).set({ outcome: 'DROPPED', endedAt: sql`now()` }).where(waiting)
    if (after.mail === 'AT_ONCE' && before.mail === 'DIGEST')
      await tx
        .update(mails)
        .set({ dueAt: sql`now()` })
        .where(and(waiting, eq(mails.attempts, 0)))
    await recordActivity(
      tx,
      { domainId, userId },
      'PERSONAL_SETTINGS_CHANGED',
      [{ target_type: 'User', name: '', id: userId }],
      after,
    )
    return after
  })
}
