/** Offboarding of users: core-interface.md section 1.16. */
import { EvidenceFile } from '../models/evidence-file.ts'
import {
  OffboardingProgress,
  UserOffboardingInput,
  UserOffboardingOutput,
} from '../models/user-offboarding.ts'
import { endpoint } from './endpoint.ts'
import { text } from './params.ts'

const offboardings = endpoint('Lifecycle management')

export const OFFBOARDING_ENDPOINTS = {
  create_user_offboarding: offboardings.post('/lifecycle-management/user-offboardings', {
    summary: 'Remove all access of a leaving user, now or at a given time',
    who: 'offboardings.write',
    body: UserOffboardingInput,
    output: UserOffboardingOutput,
    status: 201,
  }),
  list_user_offboardings: offboardings.page('/lifecycle-management/user-offboardings', {
    summary: 'List offboardings with their progress, newest first',
    who: 'offboardings.read',
    query: { user_id: text().describe('Only offboardings of this user') },
    output: OffboardingProgress,
  }),
  get_user_offboarding: offboardings.get(
    '/lifecycle-management/user-offboardings/:user_offboarding_id',
    {
      summary: 'Read an offboarding and its state; its progress is in the list',
      who: 'offboardings.read',
      output: UserOffboardingOutput,
    },
  ),
  get_user_offboarding_evidence: offboardings.get(
    '/lifecycle-management/user-offboardings/:user_offboarding_id/evidence',
    {
      summary: 'Download signed evidence of an offboarding, even while it is in progress',
      who: 'offboardings.read',
      answer: 'file',
      output: EvidenceFile,
      errors: [404],
    },
  ),
  cancel_user_offboarding: offboardings.post(
    '/lifecycle-management/user-offboardings/:user_offboarding_id/cancel',
    {
      summary: 'Cancel an offboarding that has not started',
      who: 'offboardings.write',
    },
  ),
} as const
