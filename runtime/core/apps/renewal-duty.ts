import type { Duty } from '../work/work.ts'

export const RENEWAL_DUTY: Duty = {
  handle: async () => {},
  due: async () => [],
  gaveUp: async () => {},
}
