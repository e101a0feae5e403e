/** Telling admins of what the host cannot put right by itself. */
import type { Db } from '../../database/database.ts'
import type { apps } from '../../database/schema/apps.ts'
import { adminIds } from '../people/admins.ts'
import { type NewTask, openTask } from './open.ts'

type AppRow = typeof apps.$inferSelect

export type Trouble = Pick<NewTask, 'taskType' | 'description'> & {
  /** What to do about it. */
  instructions: string
  /** Whose it is; without one the domain's. */
  app?: Pick<AppRow, 'id' | 'adminUserIds' | 'adminGroupIds'>
  targetUserId?: string
  productArea?: NewTask['productArea']
}

/** Words of others, such as a problem, may end without a full stop; a task has sentences. */
const ended = (text: string): string => (/[.!?][”"')]?$/.test(text) ? text : `${text}.`)

/** Opens an ERROR task, for the admins of the app where it has any, else for those of the domain; answers its id. */
export async function openErrorTask(
  tx: Db,
  domainId: string,
  { app, productArea = 'PLATFORM', ...words }: Trouble,
): Promise<string> {
  const { adminUserIds: userIds = [], adminGroupIds: groupIds = [] } = app ?? {}
  const named = userIds.length + groupIds.length > 0
  return openTask(
    tx,
    { domainId, userId: null },
    {
      ...words,
      description: ended(words.description),
      instructions: ended(words.instructions),
      ...(app ? { appId: app.id } : {}),
      taskCategory: 'ERROR',
      productArea,
      assignees: named
        ? { userIds, groupIds }
        : { userIds: await adminIds(tx, domainId), groupIds: [] },
    },
  )
}
