/** Which function answers which operator's endpoint of a rotation of the secret. */
import type { ROTATION_ENDPOINTS } from '../../contract/endpoints/rotation.ts'
import { endWaitingTokens, rotationOf } from '../../rotation/rotation.ts'
import type { OperatorHandler } from './handler.ts'

type Handlers = { [N in keyof typeof ROTATION_ENDPOINTS]: OperatorHandler<N> }

export const ROTATION_HANDLERS: Handlers = {
  get_rotation: ({ db, vault }) => rotationOf(db, vault.keyIds),
  end_waiting_tokens: async ({ db, actor }, { body }) => ({
    ended: await endWaitingTokens(db, actor, body.dry_run),
  }),
}
