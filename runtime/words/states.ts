/** STATE_WORDS: state of an access request, action of a task -> what a person would say. */
import type { RequestStatus } from '../contract/models/access-request.ts'
import type { Language } from './languages.ts'

type States = Record<Language, Record<RequestStatus, string>>

export const STATE_WORDS = {
  states: {
    en: {
      PENDING: 'Being checked',
      PENDING_MANAGER_APPROVAL: 'Waits for manager',
      MANAGER_APPROVED: 'Manager approved',
      MANAGER_DENIED: 'Denied by manager',
      PENDING_APPROVAL: 'Waits for approver',
      APPROVED: 'Approved',
      DENIED: 'Denied',
      EXPIRED: 'Not decided in time',
      CANCELLED: 'Withdrawn',
      PENDING_PROVISIONING: 'Being given',
      PENDING_MANUAL_PROVISIONING: 'Waits to be given by hand',
      DENIED_PROVISIONING: 'Not given',
      PROVISIONED: 'Given',
      COMPLETED: 'Active',
      PENDING_DEPROVISIONING: 'Being removed',
      PENDING_MANUAL_DEPROVISIONING: 'Waits to be removed by hand',
      TIME_BASED_EXPIRED: 'Ended',
      TIME_BASED_EXPIRED_FAILED: 'Ended, not removed',
      TIME_BASED_EXPIRED_CANCELLED: 'Ended, left in place',
      REVERTING: 'Being removed',
      REVERTED: 'Removed',
    },
    de: {
      PENDING: 'Wird geprüft',
      PENDING_MANAGER_APPROVAL: 'Wartet auf Führungskraft',
      MANAGER_APPROVED: 'Von Führungskraft genehmigt',
      MANAGER_DENIED: 'Von Führungskraft abgelehnt',
      PENDING_APPROVAL: 'Wartet auf Genehmigung',
      APPROVED: 'Genehmigt',
      DENIED: 'Abgelehnt',
      EXPIRED: 'Nicht rechtzeitig entschieden',
      CANCELLED: 'Zurückgezogen',
      PENDING_PROVISIONING: 'Wird eingerichtet',
      PENDING_MANUAL_PROVISIONING: 'Wird von Hand eingerichtet',
      DENIED_PROVISIONING: 'Nicht eingerichtet',
      PROVISIONED: 'Eingerichtet',
      COMPLETED: 'Aktiv',
      PENDING_DEPROVISIONING: 'Wird entzogen',
      PENDING_MANUAL_DEPROVISIONING: 'Wird von Hand entzogen',
      TIME_BASED_EXPIRED: 'Beendet',
      TIME_BASED_EXPIRED_FAILED: 'Beendet, nicht entzogen',
      TIME_BASED_EXPIRED_CANCELLED: 'Beendet, aber belassen',
      REVERTING: 'Wird entzogen',
      REVERTED: 'Entzogen',
    },
  },
} as const satisfies { states: States }
