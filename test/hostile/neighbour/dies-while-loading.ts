/**
 * Kills the process in which it is loaded, each time that it is. Promise 1.
 * Must happen: it is judged in a worker of its own; the folder is a ghost, and the host judges the
 * next.
 */
import { defineConnector } from 'keyway/sdk'

'x'.repeat(2 ** 28).split('')

export default defineConnector({ list_accounts: () => [] })
