/** Offboarding of users: core-interface.md section 1.16. */
import { EvidenceFile } from '../models/evidence-file.ts'
import {
  OffboardingProgress,
  UserOffboardingInput,
  UserOffboardingOutput,
} from '../models/user-offboarding.ts'
import { endpoint } from './endpoint.ts'
import { pageParams, text } from './params.ts'

const offboardings = endpoint('Lifecycle management')

export const OFFBOARDING_ENDPOINTS = {
  create_user_offboarding: offboardings.post('/lifecycle-management/user-offboardings', {
    summary: 'Take everything from a user who leaves, now or at a time',
    who: 'offboardings.write',
    body: UserOffboardingInput,
    output: UserOffboardingOutput,
    status: 201,
  }),
  list_user_offboardings: offboardings.get('/lifecycle-management/user-offboardings', {
    summary: 'List offboardings, newest first, with how far each is',
    who: 'offboardings.read',
    query: { user_id: text().describe('Only those of this user'), ...pageParams },
    answer: 'page',
    output: OffboardingProgress,
  }),
  get_user_offboarding: offboardings.get(
    '/lifecycle-management/user-offboardings/:user_offboarding_id',
    {
      summary: 'Read an offboarding and its state; the list says how far each is',
      who: 'offboardings.read',
      output: UserOffboardingOutput,
    },
  ),
  get_user_offboarding_evidence: offboardings.get(
    '/lifecycle-management/user-offboardings/:user_offboarding_id/evidence',
    {
      summary: 'Take signed evidence of an offboarding, also while it is under way',
      who: 'offboardings.read',
      answer: 'file',
      output: EvidenceFile,
      errors: [404],
    },
  ),
  cancel_user_offboarding: offboardings.post(
    '/lifecycle-management/user-offboardings/:user_offboarding_id/cancel',
    {
      summary: 'Cancel an offboarding that has not begun',
      who: 'offboardings.write',
    },
  ),
} as const
