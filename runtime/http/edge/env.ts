/** What the routes keep on Hono's context. */
import type { Operator } from '../../core/sign-in/operator.ts'

export type Variables = {
  requestId: string
  appId: string
  /** Who operates, asked again: in whose name a change below /operator is recorded. */
  operator: () => Promise<Operator>
}
export type Env = { Variables: Variables }
