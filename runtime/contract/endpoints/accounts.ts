/** Accounts in apps: core-interface.md section 1.5. */
import { ACCOUNT_STATUSES, Account, DISCOVERY_SOURCES } from '../models/app.ts'
import { endpoint } from './endpoint.ts'
import { datetime, manyOf, pageParams, text, texts } from './params.ts'

const accounts = endpoint('Accounts')

export const ACCOUNT_ENDPOINTS = {
  list_app_accounts: accounts({
    method: 'GET',
    path: '/accounts',
    summary: 'List accounts in apps, by app and their id in it',
    who: 'accounts.read',
    query: {
      app_id: text().describe('Only in this app'),
      discovered_before: datetime().describe('Only those discovered before this moment'),
      discovered_after: datetime().describe('Only those discovered after this moment'),
      sources: manyOf(DISCOVERY_SOURCES).describe('Only those that one of these has told of'),
      status: manyOf(ACCOUNT_STATUSES).describe('Only those in one of these states'),
      expand: texts().describe('app'),
      ...pageParams,
    },
    answer: 'page',
    output: Account,
  }),
} as const
