/** Tasks that tell admins about failures that the host cannot repair. */

import type { ErrorTaskType } from '../../contract/models/task-type.ts'
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import { adminIds } from '../directory/admins.ts'
import { type NewTask, openTask } from './open-task.ts'

export type TaskFailure = Pick<NewTask, 'description'> & {
  taskType: ErrorTaskType
  /** What the admins should do about it. */
  instructions: string
  /** App that has the problem. Without one, the problem concerns the whole domain. */
  app?: Pick<AppRow, 'id' | 'adminUserIds' | 'adminGroupIds'>
  targetUserId?: string
  productArea?: NewTask['productArea']
}

/** Appends a full stop if the text has no end mark; error messages often lack one. */
const asSentence = (text: string): string => (/[.!?][”"')]?$/.test(text) ? text : `${text}.`)

/** Opens an ERROR task for the admins of the app, or of the domain if the app has none. @returns the task's id */
export async function openErrorTask(
  tx: Db,
  domainId: string,
  { app, productArea = 'PLATFORM', ...texts }: TaskFailure,
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
      productArea,
      assignees: named
        ? { userIds, groupIds }
        : { userIds: await adminIds(tx, domainId), groupIds: [] },
    },
  )
}
