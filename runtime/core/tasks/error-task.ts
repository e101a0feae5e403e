/** Tasks that tell admins about failures which the host cannot repair. */

import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import { adminIds } from '../directory/admins.ts'
import { type NewTask, openTask } from './open-task.ts'

export type TaskTrouble = Pick<NewTask, 'taskType' | 'description'> & {
  /** What to do about it. */
  instructions: string
  /** The app that it concerns; without one it concerns the whole domain. */
  app?: Pick<AppRow, 'id' | 'adminUserIds' | 'adminGroupIds'>
  targetUserId?: string
  productArea?: NewTask['productArea']
}

/** Completes a text as a sentence: error messages often come without a full stop. */
const asSentence = (text: string): string => (/[.!?][”"')]?$/.test(text) ? text : `${text}.`)

/** Opens an ERROR task for the admins of the app, or of the domain if the app has none. @returns the task's id */
export async function openErrorTask(
  tx: Db,
  domainId: string,
  { app, productArea = 'PLATFORM', ...texts }: TaskTrouble,
): Promise<string> {
  const { adminUserIds: userIds = [], adminGroupIds: groupIds = [] } = app ?? {}
  const named = userIds.length + groupIds.length > 0
  return openTask(
    tx,
    { domainId, userId: null },
    {
      ...texts,
      description: asSentence(texts.description),
      instructions: asSentence(texts.instructions),
      ...(app ? { appId: app.id } : {}),
      taskCategory: 'ERROR',
      productArea,
      assignees: named
        ? { userIds, groupIds }
        : { userIds: await adminIds(tx, domainId), groupIds: [] },
    },
  )
}
