/** Accounts in apps: core-interface.md section 1.5. */
import { INPUTS } from '../limits/inputs.ts'
import { Association } from '../models/access.ts'
import { ACCOUNT_SORTS, ACCOUNT_STATUSES, Account, DISCOVERY_SOURCES } from '../models/app.ts'
import {
  ActivityRecordOutput,
  JobStateOutput,
  SyncTaskOutput,
  UploadedAccounts,
  UploadedActivity,
} from '../models/upload.ts'
import { endpoint } from './endpoint.ts'
import { asOf, datetime, manyOf, oneOf, text, texts } from './params.ts'

const accounts = endpoint('Accounts')

export const ACCOUNT_ENDPOINTS = {
  list_app_accounts: accounts.page('/accounts', {
    summary: 'List accounts, by app and by their id in the app',
    who: 'accounts.read',
    query: {
      app_id: text().describe('Only in this app'),
      discovered_before: datetime().describe('Only accounts discovered before this time'),
      discovered_after: datetime().describe('Only accounts discovered after this time'),
      sources: manyOf(DISCOVERY_SOURCES).describe('Only accounts reported by one of these sources'),
      status: manyOf(ACCOUNT_STATUSES).describe('Only accounts in one of these states'),
      expand: texts().describe('app'),
      sort: oneOf(ACCOUNT_SORTS).describe('Sort order; a leading minus reverses it'),
      as_of: asOf,
    },
    output: Account,
  }),
  list_associations: accounts.page('/associations', {
    summary: 'List the entitlements that accounts held, as reported by complete syncs',
    who: 'accounts.read',
    query: {
      app_id: text().describe('Only in this app'),
      account_id: text().describe('Only entitlements of this account'),
      as_of: asOf,
    },
    output: Association,
  }),
  upload_accounts: accounts.post('/accounts/upload', {
    summary:
      'Add and change accounts of a custom app in the background; either all succeed or none',
    who: 'caller',
    body: UploadedAccounts,
    maxBytes: INPUTS.upload.maxBytes,
    upload: 'accounts',
    output: JobStateOutput,
    errors: [403, 404],
  }),
  get_account_upload: accounts.get('/accounts/upload/:job_id', {
    summary: 'Read the progress of an upload of accounts',
    who: 'caller',
    output: JobStateOutput,
    errors: [404],
  }),
  upload_activity_records: accounts.post('/activity_records', {
    summary: 'Upload activity of accounts; records of unknown accounts are counted and ignored',
    who: 'caller',
    body: UploadedActivity,
    maxBytes: INPUTS.upload.maxBytes,
    upload: 'activity',
    output: ActivityRecordOutput,
    errors: [403, 404],
  }),
  get_activity_record_job: accounts.get('/activity_records/job/:activity_job_id', {
    summary: 'Read whether activity records have been processed',
    who: 'caller',
    output: SyncTaskOutput,
    errors: [404],
  }),
} as const
