/**
 * Kills the process that loads it, every time. Promise 1.
 * Must happen: it is checked in a worker of its own; the folder is a ghost, and the host checks the next one.
 */
import { defineConnector } from 'keyway/sdk'

'x'.repeat(2 ** 28).split('')

export default defineConnector({ list_accounts: () => [] })
