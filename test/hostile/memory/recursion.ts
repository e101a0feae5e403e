/**
 * Recurses without end, through every kind of call. Promise 1.
 * Must happen: a RangeError of the language, reported as a failure of the connector.
 */
import { defineConnector } from 'keyway/sdk'

class Endless {
  get again() {
    return this.again
  }
  toString() {
    return `${this}`
  }
}

export default defineConnector({
  list_accounts() {
    const fall = (depth) => fall(depth + 1) + 1
    for (const one of [fall, () => new Endless().again, () => `${new Endless()}`]) {
      try {
        one(0)
      } catch (error) {
        if (!(error instanceof RangeError)) return [{ integration_specific_id: String(error) }]
      }
    }
    fall(0)
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
