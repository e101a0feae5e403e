/** A check's finding without its name. */
import type { DoctorFinding } from '../contract/endpoints/doctor.ts'
import { messageOf } from '../contract/errors/thrown.ts'

export type Examined = Omit<DoctorFinding, 'check'>

export const good = (what: string): Examined => ({ state: 'good', what, advice: null })
export const look = (what: string, advice: string): Examined => ({ state: 'look', what, advice })
export const actOn = (what: string, advice: string): Examined => ({ state: 'act', what, advice })

/** Returns the finding of a check that failed. */
export const unread = (error: Error): Examined =>
  look(
    `could not be checked: ${messageOf(error.cause ?? error).slice(0, 300)}`,
    'try again; `/readyz` shows whether the host is waiting for something',
  )
