/** Which function answers which operator's endpoint of the calls of the last days. */
import { readCalledHosts, readCallMinutes } from '../../connectors/lifecycle/read-call-minutes.ts'
import {
  BOUNDS_MS,
  type CALL_MINUTE_ENDPOINTS,
  MOST_STEPS,
} from '../../contract/endpoints/call-minutes.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import type { OperatorHandler } from './handler.ts'

type Handlers = { [N in keyof typeof CALL_MINUTE_ENDPOINTS]: OperatorHandler<N> }

export const CALL_MINUTE_HANDLERS: Handlers = {
  list_call_minutes: async ({ db, actor }, { query }) => {
    const { hours, step_minutes: stepMinutes, group, capability } = query
    const steps = Math.ceil((hours * 60) / stepMinutes)
    if (steps > MOST_STEPS)
      throw new CoreError('invalid', [
        {
          loc: ['query', 'step_minutes'],
          msg: `${hours} hours would be ${steps} steps of ${stepMinutes} minutes; at most ${MOST_STEPS} fit, so take longer steps`,
          type: 'value_error',
        },
      ])
    const which = { connector: query.connector_id, capability, hours, stepMinutes, group }
    return { bounds_ms: BOUNDS_MS, ...(await readCallMinutes(db, actor.domainId, which)) }
  },
  list_called_hosts: async ({ db, actor }, { query }) => ({
    items: await readCalledHosts(db, actor.domainId, {
      connector: query.connector_id,
      hours: query.hours,
    }),
  }),
}
