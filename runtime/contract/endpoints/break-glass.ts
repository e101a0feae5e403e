/** Break-glass permissions. Keyway's own: the public service publishes no endpoints for them. */
import { AccessRequest } from '../models/access-request.ts'
import { BreakGlass, BreakGlassInput, TakeBreakGlassInput } from '../models/break-glass.ts'
import { endpoint } from './endpoint.ts'
import { bool, text } from './params.ts'

const glass = endpoint('BreakGlass')

export const BREAK_GLASS_ENDPOINTS = {
  list_break_glass: glass.page('/break_glass', {
    summary:
      'List the break-glass permissions that the caller may take, and those of apps that the caller may read',
    who: 'caller',
    query: {
      mine: bool(false).describe('Only permissions that the caller may take now'),
      app_id: text().describe('Only of this app'),
    },
    output: BreakGlass,
  }),
  put_break_glass: glass.put('/break_glass/:break_glass_id', {
    summary: 'Make a permission break-glass, by its id, with its groups and maximum duration',
    who: 'caller',
    body: BreakGlassInput,
    output: BreakGlass,
  }),
  delete_break_glass: glass.delete('/break_glass/:break_glass_id', {
    summary: 'Stop a permission from being break-glass; access already taken ends as scheduled',
    who: 'caller',
  }),
  take_break_glass: glass.post('/break_glass/:break_glass_id/take', {
    summary: 'Take a break-glass permission at once; all approvers are notified and one reviews it',
    who: 'caller',
    body: TakeBreakGlassInput,
    output: AccessRequest,
    status: 201,
    errors: [409],
  }),
} as const
