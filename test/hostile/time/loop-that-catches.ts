/**
 * Loops within `try` and `finally`, to outlive its own termination. Promise 1.
 * Must happen: termination cannot be caught: `request_timeout`.
 */
import { defineConnector } from 'keyway/sdk'

const again = () => {
  try {
    for (;;);
  } finally {
    again()
  }
}

export default defineConnector({
  list_accounts() {
    for (;;) {
      try {
        again()
      } catch {}
    }
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
