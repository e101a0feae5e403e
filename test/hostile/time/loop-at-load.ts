/**
 * Loops while its code is loaded. Promise 1.
 * Must happen: loading ends by its own time limit, the folder is a ghost, no call ever reaches it.
 */
import { defineConnector } from 'keyway/sdk'

for (;;);

export default defineConnector({ list_accounts: () => [] })
