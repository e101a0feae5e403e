/** Which function answers which operator's endpoint of personal data. */
import type { PERSONAL_DATA_ENDPOINTS } from '../../contract/endpoints/personal-data.ts'
import { erasePerson } from '../../core/personal-data/erase.ts'
import { exportPerson } from '../../core/personal-data/export.ts'
import type { OperatorHandler } from './handler.ts'

type Handlers = { [N in keyof typeof PERSONAL_DATA_ENDPOINTS]: OperatorHandler<N> }

export const PERSONAL_DATA_HANDLERS: Handlers = {
  export_person: ({ db, actor }, { body }) => exportPerson(db, actor, body.email),
  erase_person: ({ db, actor }, { body }) =>
    erasePerson(db, actor, { email: body.email, dryRun: body.dry_run }),
}
